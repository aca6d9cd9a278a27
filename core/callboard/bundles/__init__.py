"""Skill bundles: installing them on disk, running their servers, and giving them files. Imported
only if a bundle is installed."""

"""Skill bundles: installed on disk, run with their own servers, and given files. Imported only
where a bundle is installed."""

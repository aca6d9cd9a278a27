"""Skill bundles: installed on disk, at work with their own servers, and handed files.

Loaded only where a bundle is installed.
"""

"""Installed bundles at work: their skills found, their own servers run, files handed to them.

Loaded only where a bundle is installed.
"""

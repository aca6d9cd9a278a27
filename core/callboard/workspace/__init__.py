"""The folders in which files may be touched. This package has the roots, the checks of paths, and
file URIs."""

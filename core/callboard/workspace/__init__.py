"""The folders in which files may be touched: roots, containment, path text and file URIs."""

"""Where files may be touched: roots, containment, path text and file URIs."""

"""Code that adapters for any application share."""

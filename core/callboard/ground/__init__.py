"""The foundation of all other packages: files, locks, pictures, matrices, names."""

"""What every room stands on: files, locks, pictures, matrices, names."""

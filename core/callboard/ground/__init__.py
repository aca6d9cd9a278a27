"""The basis of all other rooms: files, locks, pictures, matrices, names."""

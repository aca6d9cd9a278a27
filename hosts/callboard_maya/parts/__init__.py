"""What several ports of Maya stand on."""

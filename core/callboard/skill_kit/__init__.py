"""What skills share: reading back, framing, bringing files in."""

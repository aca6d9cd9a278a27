"""What Maya shows of callboard."""

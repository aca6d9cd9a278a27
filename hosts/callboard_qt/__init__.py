"""What hosts that are Qt applications share: the way onto their main thread."""

"""Bundles at work: their servers as processes, watched, restarted and called."""

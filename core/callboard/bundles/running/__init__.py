"""Running bundles: their servers' processes are started, watched, restarted and called."""

"""The scene and the undo steps of `fake_host.FakeHost`."""

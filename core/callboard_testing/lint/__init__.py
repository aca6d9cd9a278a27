"""What is wrong with a skill or a bundle, before anybody runs it."""

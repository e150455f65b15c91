"""The form of a tree in which its motion is cheapest to compute: frames, screws, loops over bodies."""

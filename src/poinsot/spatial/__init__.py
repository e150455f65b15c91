"""The algebra of the texts: rotations, poses, twists, wrenches, mass properties, shapes."""

"""Contact: where shapes touch, and the law of the force there."""

"""comseclab: what does protecting a robot's messages cost, and does it protect?"""

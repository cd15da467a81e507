"""The dictionary linker: candidates of names in a text, their features, learnt weights and calibration."""

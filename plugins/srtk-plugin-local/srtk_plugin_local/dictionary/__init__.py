"""How the dictionary linker ranks: candidates, their features, learnt weights and calibration."""

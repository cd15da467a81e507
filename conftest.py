"""Settings for all tests: no network, one thread, the same examples on every machine."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

from hypothesis import HealthCheck, settings

# A busy machine must not fail a property: examples have no deadline, and are the same in every run.
settings.register_profile("srtk", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("srtk")

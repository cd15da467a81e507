"""Text encoder on ONNX Runtime for srtk-framework."""

#!/usr/bin/env bash
# scikit-learn 1.2.1, sklearn.metrics: errors between arrays of unsigned 8-bit integers, as images, quantized networks and counts are stored.
# Most would expect the mean absolute error of 200 and 100 to be 100 in every type, or integers to be refused.
# Seen: targets and predictions are subtracted and squared in their own type, which wraps: 10 - 11 is 255, and 100 squared is 16. No message. The
# mean absolute error is four times too high here, the mean squared error 300 times too low, and R2 says 0.9988 where 0.5913 is right.
# What it means: a poor model looks nearly perfect, or a good one poor, by the signs of its errors. Convert both arrays to float64 before any metric.
. "$(dirname "$0")/debian.sh"
packages python3-sklearn=1.2.1+dfsg-1
cat >errors.py <<'PYTHON'
import numpy as np
from sklearn import metrics

target = np.array([10, 20, 30, 200], np.uint8)
predicted = np.array([11, 18, 33, 100], np.uint8)
for name in ("mean_absolute_error", "median_absolute_error", "mean_squared_error", "max_error", "r2_score"):
    metric = getattr(metrics, name)
    print(f"{name}: uint8 {metric(target, predicted):.4f}, float64 {metric(target.astype(float), predicted.astype(float)):.4f}")
PYTHON
seen "mean_absolute_error: uint8 103.5000, float64 26.5000
median_absolute_error: uint8 79.5000, float64 2.5000
mean_squared_error: uint8 7.5000, float64 2503.5000
max_error: uint8 255.0000, float64 100.0000
r2_score: uint8 0.9988, float64 0.5913" "$(python errors.py)"

#include "core/train/networks/mlp/trained_mlp.hpp"

#include <algorithm>
#include <numeric>

#include "core/train/kinds/buffer.hpp"
#include "core/train/networks/mlp/device_layers.hpp"
#include "core/train/networks/mlp/mlp_loss.hpp"

namespace cambium::train {

bool TrainedMlp::belongs_on_device(std::int64_t samples) {
  if (params_.compute != Compute::automatic) return params_.compute == Compute::kernels;
  if (!kernels_have_own_memory()) return false;
  const auto widths = shape_of(params_, scaling_).widths;
  double weights = 0.0;
  for (std::size_t l = 0; l + 1 < widths.size(); ++l)
    weights += static_cast<double>(widths[l]) * static_cast<double>(widths[l + 1]);
  device_->kept_off = 6.0 * weights * static_cast<double>(samples) < enough_operations;
  return !device_->kept_off;
}

/// Inputs and targets of samples in rows, scaled.
template <class T>
static std::vector<T> rows_of(std::span<const SamplePtr> samples, std::int64_t inputs, std::int64_t targets,
                              const Mlp::Params& params, const Mlp::Scaling& scaling) {
  const std::size_t n = samples.size(), a = static_cast<std::size_t>(inputs), b = static_cast<std::size_t>(targets);
  std::vector<T> x(n * a), y(n * b), out;
  write_scaled_inputs<T>(samples, params, scaling, x.data());
  write_targets<T>(samples, params, scaling, y.data());
  out.reserve(n * (a + b));
  for (std::size_t s = 0; s < n; ++s) {
    out.insert(out.end(), x.data() + s * a, x.data() + (s + 1) * a);
    out.insert(out.end(), y.data() + s * b, y.data() + (s + 1) * b);
  }
  return out;
}

bool TrainedMlp::bring_samples(Dataset& data, double most_bytes) {
  const std::int64_t inputs = std::ssize(scaling_.input_mean),
                     targets = params_.goal == Goal::regression ? std::ssize(scaling_.target_mean) : 1;
  const double numbers = static_cast<double>(data.size()) * static_cast<double>(inputs + targets);
  if (numbers * static_cast<double>(size_of(dtype())) > most_bytes) return false;
  device_->samples = std::make_unique<ResidentRows>(dtype(), data.size(), std::vector<std::int64_t>{inputs, targets});
  constexpr std::int64_t at_once = 1024;
  for (std::int64_t at = 0; at < data.size(); at += at_once) {
    std::vector<std::int64_t> ids(std::min(at_once, data.size() - at));
    std::iota(ids.begin(), ids.end(), at);
    const auto samples = data.read(ids);
    with_real(dtype(), [&]<class T>() {
      const auto rows = rows_of<T>(samples, inputs, targets, params_, scaling_);
      device_->samples->bring(at, std::ssize(samples), rows.data());
    });
  }
  return true;
}

void TrainedMlp::gradient_on_device(const DeviceSlice& slice, std::span<const TensorRef> weights,
                                    std::span<const double> term_weights, std::span<const TensorRef> gradients,
                                    bool add, double* sums, std::span<double> counts) {
  with_real(dtype(), [&]<class T>() {
    auto& layers = device_->passes<T>(params_, shape_of(params_, scaling_));
    const int rows = static_cast<int>(slice.count);
    if (slice.rows) {
      device_->samples->gather(slice.rows, slice.count, layers.room(rows));
    } else {
      T* const block = layers.block(rows, true).data();
      write_scaled_inputs<T>(slice.samples, params_, scaling_, block);
      write_targets<T>(slice.samples, params_, scaling_, block + slice.samples.size() * scaling_.input_mean.size());
      layers.bring_block();
    }
    layers.forward_there(weights, device_->first());
    layers.start_loss(term_weights[0], sums);
    layers.backward_there(gradients, add);
  });
  counts[0] = static_cast<double>(slice.count);
}

}  // namespace cambium::train

#pragma once
#include <memory>

#include "core/deck/describe.hpp"
#include "core/train/kinds/network.hpp"
#include "plugins/superres/networks/flow_scaling.hpp"
#include "plugins/superres/networks/fourier/fourier_layers.hpp"
#include "plugins/superres/networks/rollout_keys.hpp"

namespace cambium::superres {

/// Fourier neural operator in two dimensions (Li et al. 2021, arXiv:2010.08895), with gradients written by hand. Frames
/// of a window are channels of a plane (x, z). Windows of `crops` are first interpolated linearly to `ratio` times as
/// many points, at whose nodes the answer is given; between nodes it is interpolated linearly. Of `snapshots` it
/// forecasts the next frame.
class FourierOperator : public train::Network {
 public:
  enum class Loss { l1, l2 };
  struct Params : RolloutKeys {
    int width = 32, layers = 4, hidden = 64;
    std::array<int, 2> modes{};
    Continuation ends = Continuation::mirror;
    double padding = 0.25;
    bool height = true, interpolate = true;
    std::array<std::int64_t, 3> ratio{};
    Loss loss = Loss::l1;
    Precision precision = Precision::float32;
    static void describe(deck::Describe<Params>& d);
  };
  FourierOperator(const Params& params, Context&) : params_(params) {}

  void fit_statistics(train::Dataset& training, Context&) override;
  std::vector<train::ParameterInfo> parameters() const override { return fourier_parameters(shape_); }
  DType dtype() const override { return params_.precision == Precision::float64 ? DType::f64 : DType::f32; }
  void initialise(std::span<const TensorRef> weights, std::uint64_t seed) override;
  /// Lifting, Fourier layers and both layers of the projection; none with `push_forward`, which needs them all first.
  std::vector<int> modules() const override;
  void begin_step(std::uint64_t seed, std::int64_t step) override { moment_ = {seed, step}; }
  std::vector<train::TermInfo> terms() const override { return {{"data", "", train::TermInfo::Report::mean}}; }
  void gradient(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<const double> term_weights, std::span<const TensorRef> gradients,
                std::span<train::TermSum> terms, const train::ReadyCallback& ready) override;
  std::vector<train::TermInfo> metrics() const override {
    return {{"error", "", train::TermInfo::Report::mean}, {"scaled_rms_error", "", train::TermInfo::Report::root_mean}};
  }
  void evaluate(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<train::TermSum> metrics) override;
  /// "fields" in physical units: (points, 4) of crops, (4, x, z), the next frame, of snapshots.
  std::vector<train::FieldInfo> outputs() const override;
  void infer(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
             std::span<const TensorRef> outputs) override;
  std::vector<std::string> export_model(const std::string&, std::span<const TensorRef>, Context&) const override {
    return {};
  }
  std::vector<Citation> citations() const override;
  std::string state() const override { return scaling_.text(); }
  void restore(const std::string& state) override;

 private:
  /// What a pass reads: scaled frames (samples, fields, t, x, z), and for each sample how many frames further on they
  /// are than the sample's own.
  struct Frames {
    std::vector<double> values;
    std::vector<int> later;
  };
  void make_shape();
  std::size_t nodes() const { return static_cast<std::size_t>(shape_.grid.nodes()); }
  std::vector<double> scaled_coarse(const train::Sample& sample) const;
  Frames frames_of(std::span<const train::SamplePtr> samples) const;
  template <class T>
  std::vector<T> planes(std::span<const train::SamplePtr> samples, const Frames& frames) const;
  template <class T>
  void push_forward(std::span<const train::SamplePtr> samples, FourierLayers<T>& layers, Frames& frames) const;
  /// Scaled fields of one sample, of `y`, its outputs: of crops (points, 4), of snapshots (4, x, z).
  template <class T>
  std::vector<double> answer(const train::Sample& sample, std::span<const double> frames, const T* y) const;
  std::vector<double> truth(const train::Sample& sample, int later) const;
  /// Adds to `by_output`, those of one sample, what a derivative by its answer makes of it.
  template <class T>
  void spread(const train::Sample& sample, std::span<const double> by_answer, T* by_output) const;
  template <class F>
  void each_answer(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights, const F& tell) const;

  Params params_;
  FlowScaling scaling_;
  FourierShape shape_;
  std::unique_ptr<SpectralTransform> transform_;
  Moment moment_;
};

}  // namespace cambium::superres

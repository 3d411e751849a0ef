#pragma once
#include <memory>

#include "core/deck/describe.hpp"
#include "core/train/kinds/gives_loss.hpp"
#include "core/train/kinds/network.hpp"
#include "core/train/kinds/works_by_module.hpp"
#include "plugins/superres/networks/flow_scaling.hpp"
#include "plugins/superres/networks/planes/plane_layers.hpp"
#include "plugins/superres/networks/rollout_keys.hpp"

namespace cambium::superres {

/// Keys of networks from plane to plane.
struct PlaneKeys : RolloutKeys {
  enum class Loss { l1, l2 };
  bool height = true, interpolate = true;
  std::array<std::int64_t, 3> ratio{};
  Loss loss = Loss::l1;
  Precision precision = Precision::float32;
};

/// Declares those keys for a Params that derives from them.
template <class P>
void describe_plane(deck::Describe<P>& d) {
  d("height", &PlaneKeys::height, "the height above the lower plate is one more input").def(true);
  d("ratio", &PlaneKeys::ratio, "crops: cells of the output per coarse cell along t, x and z").def({2, 4, 4});
  d("interpolate", &PlaneKeys::interpolate,
    "residual learning: the network's output is added to the linear interpolation of coarse samples (crops) or to the "
    "last frame (snapshots)")
      .def(true);
  describe_forecast_training(d);
  d("loss", &PlaneKeys::loss, "loss function")
      .options({{"l1", PlaneKeys::Loss::l1}, {"l2", PlaneKeys::Loss::l2}})
      .def(PlaneKeys::Loss::l1);
  d.check([](const P& p) -> std::string {
    for (auto r : p.ratio)
      if (r < 1) return "'ratio' must be at least 1 along every axis";
    return "";
  });
}

/// Sizes for the layers of such a network.
struct PlaneSizes {
  std::array<int, 2> points{};  ///< x, z
  int inputs = 0, outputs = 0;  ///< channels
  bool wraps = false;           ///< around a periodic x
  bool ends_at_points = false;  ///< planes end at their last points (crops), otherwise half a cell beyond
};

/// A network whose layers map planes (x, z) to planes, with hand-written gradients. Frames of a window are channels of
/// a plane. Windows of `crops` are first interpolated linearly to `ratio` times as many points, at whose nodes the
/// output is given; between nodes it is interpolated linearly. For `snapshots` it forecasts the next frame.
class PlaneNetwork : public train::Network,
                     public train::GivesLoss,
                     public train::WorksByModule,
                     public train::HasConditions {
 public:
  explicit PlaneNetwork(const PlaneKeys& keys) : keys_(keys) {}

  void fit_statistics(train::Dataset& training, Context&) override;
  DType dtype() const override { return keys_.precision == Precision::float64 ? DType::f64 : DType::f32; }
  train::NetworkTraits traits() override { return {.loss = this, .modules = this, .conditions = this}; }
  std::vector<train::Condition> conditions() const override { return scaling_.conditions; }
  /// Modules of the layers; none with `push_forward`, which needs all weights first.
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
  void add_loss(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<train::TermSum> terms) override;
  /// "fields" in physical units: (points, 4) of crops, (4, x, z), the next frame, of snapshots.
  std::vector<train::FieldInfo> outputs() const override;
  void infer(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
             std::span<const TensorRef> outputs) override;
  /// Sample by sample: planes of many would take the memory that sharding the weights saves.
  std::int64_t passes(std::int64_t samples) const override { return samples; }
  void evaluate_by_module(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                          const train::ReadyCallback& ready, std::span<train::TermSum> metrics,
                          std::span<train::TermSum> loss) override;
  void infer_by_module(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                       const train::ReadyCallback& ready, std::span<const TensorRef> outputs) override;
  std::vector<std::string> export_model(const std::string&, std::span<const TensorRef>, Context&) const override {
    return {};
  }
  std::string state() const override { return scaling_.text(); }
  void restore(const std::string& state) override;

 protected:
  /// Called first, as soon as the sizes are known. InputError for planes that the layers do not support.
  virtual void make(const PlaneSizes& sizes) = 0;
  virtual std::vector<int> layer_modules() const = 0;
  virtual std::unique_ptr<PlaneLayers<double>> layers_f64(std::span<const TensorRef> weights) const = 0;
  virtual std::unique_ptr<PlaneLayers<float>> layers_f32(std::span<const TensorRef> weights) const = 0;
  bool begins_as_interpolation() const { return keys_.interpolate; }

 private:
  /// Input of a pass: scaled frames (samples, fields, t, x, z), and for each sample the number of frames by which they
  /// are advanced.
  struct Frames {
    std::vector<double> values;
    std::vector<int> later;
  };
  template <class T>
  std::unique_ptr<PlaneLayers<T>> layers(std::span<const TensorRef> weights) const;
  void make_sizes();
  std::size_t nodes() const { return static_cast<std::size_t>(sizes_.points[0]) * sizes_.points[1]; }
  std::vector<double> scaled_coarse(const train::Sample& sample) const;
  Frames frames_of(std::span<const train::SamplePtr> samples) const;
  template <class T>
  std::vector<T> planes(std::span<const train::SamplePtr> samples, const Frames& frames) const;
  template <class T>
  void push_forward(std::span<const train::SamplePtr> samples, PlaneLayers<T>& layers, Frames& frames) const;
  /// Scaled fields of one sample from its outputs `y`: of crops (points, 4), of snapshots (4, x, z).
  template <class T>
  std::vector<double> answer(const train::Sample& sample, std::span<const double> frames, const T* y) const;
  std::vector<double> truth(const train::Sample& sample, int later) const;
  /// Adds to `by_output`, that of one sample, the gradient for a derivative with respect to its fields.
  template <class T>
  void spread(const train::Sample& sample, std::span<const double> by_answer, T* by_output) const;
  template <class F>
  void each_answer(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                   const train::ReadyCallback& ready, const F& tell) const;

  PlaneKeys keys_;
  FlowScaling scaling_;
  PlaneSizes sizes_;
  Moment moment_;
  train::TermSum evaluated_;  ///< loss of the samples evaluated last
};

}  // namespace cambium::superres

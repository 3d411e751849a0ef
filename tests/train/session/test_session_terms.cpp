// A loss whose terms count different things (frames that have an energy, components of force of frames of different
// sizes): a session and the stage `train` go through the same weights and name the same loss.
#include <cmath>
#include <filesystem>

#include "core/io/hdf5/h5.hpp"
#include "core/plugin/task.hpp"
#include "core/train/register.hpp"
#include "core/train/run/train.hpp"
#include "core/train/session.hpp"
#include "tests/catch.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::train;

namespace {

constexpr std::int64_t frames = 8, places = 4;
constexpr double no_energy = 99.0;

/// Frames of one to four particles on a line, in rows of four places; every third has no energy.
struct Frames {
  std::vector<double> size, x, energy, force;
  std::int64_t rows;
  Frames(std::int64_t first, std::int64_t last) : rows(last - first) {
    for (std::int64_t k = first; k < last; ++k) {
      const auto particles = 1 + k % places;
      size.push_back(static_cast<double>(particles));
      energy.push_back(k % 3 == 2 ? no_energy : 0.4 * static_cast<double>(particles) - 0.03 * static_cast<double>(k));
      for (std::int64_t i = 0; i < places; ++i) {
        x.push_back(std::sin(0.9 * static_cast<double>(places * k + i)));
        force.push_back(0.7 - 0.5 * x.back());
      }
    }
  }
  std::vector<HostArray> arrays() const {
    return {{"size", io::tensor_of(size.data(), {rows}), ""},
            {"x", io::tensor_of(x.data(), {rows, places}), ""},
            {"energy", io::tensor_of(energy.data(), {rows}), ""},
            {"force", io::tensor_of(force.data(), {rows, places}), ""}};
  }
};

/// Particles in the potential a x + b x^2 / 2: errors of energies and, by particle, of forces.
class Line : public Network {
 public:
  struct Params {
    double start = 0.1;
    static void describe(deck::Describe<Params>& d) { d("start", &Params::start, "first weights").def(0.1); }
  };
  Line(const Params& params, Context&) : params_(params) {}
  void fit_statistics(train::Dataset&, Context&) override {}
  std::vector<ParameterInfo> parameters() const override { return {{"a", {1}}, {"b", {1}}}; }
  DType dtype() const override { return DType::f64; }
  void initialise(std::span<const TensorRef> w, std::uint64_t) override {
    value(w, 0) = params_.start;
    value(w, 1) = -params_.start;
  }
  std::vector<TermInfo> terms() const override { return {{"energy", ""}, {"force", ""}}; }
  std::vector<double> term_weights(std::int64_t, double) const override { return {0.7, 0.2}; }
  void gradient(std::span<const SamplePtr> samples, std::span<const TensorRef> w, std::span<const double> weights,
                std::span<const TensorRef> g, std::span<TermSum> terms, const ReadyCallback&) override {
    for (const auto& sample : samples) {
      const auto* x = numbers(*sample, "x");
      const auto particles = static_cast<int>(*numbers(*sample, "size"));
      double sum = 0.0, squares = 0.0;
      for (int i = 0; i < particles; ++i) {
        sum += x[i];
        squares += x[i] * x[i] / 2.0;
        const double error = -(value(w, 0) + value(w, 1) * x[i]) - numbers(*sample, "force")[i];
        terms[1].sum += error * error;
        terms[1].count += 1.0;
        value(g, 0) -= 2.0 * weights[1] * error;
        value(g, 1) -= 2.0 * weights[1] * error * x[i];
      }
      if (*numbers(*sample, "energy") == no_energy) continue;
      const double error = value(w, 0) * sum + value(w, 1) * squares - *numbers(*sample, "energy");
      terms[0].sum += error * error;
      terms[0].count += 1.0;
      value(g, 0) += 2.0 * weights[0] * error * sum;
      value(g, 1) += 2.0 * weights[0] * error * squares;
    }
  }
  void evaluate(std::span<const SamplePtr>, std::span<const TensorRef>, std::span<TermSum>) override {}
  std::vector<std::string> export_model(const std::string&, std::span<const TensorRef>, Context&) const override {
    return {};
  }

 private:
  static double& value(std::span<const TensorRef> tensors, std::size_t k) {
    return *static_cast<double*>(tensors[k].data);
  }
  static const double* numbers(const Sample& sample, const char* field) {
    return static_cast<const double*>(sample.fields.find(field)->second.data);
  }
  Params params_;
};

/// All frames as the data set of a deck.
class FrameSet : public train::Dataset {
 public:
  struct Params {
    std::int64_t first = 0;
    static void describe(deck::Describe<Params>& d) { d("first", &Params::first, "frame").def(0); }
  };
  FrameSet(const Params& params, Context&) : set_(Frames(params.first, frames).arrays()) {}
  void open(Context&) override {}
  std::int64_t size() const override { return set_.size(); }
  std::vector<FieldInfo> fields() const override { return set_.fields(); }
  std::vector<SamplePtr> read(std::span<const std::int64_t> ids) override { return set_.read(ids); }

 private:
  MemorySet set_;
};

void add_types(Registry& registry) {
  registry.add<Line>("line", "particles on a line");
  registry.add<FrameSet>("frames", "frames of particles on a line");
}

constexpr int steps = 6;
const std::string keys =
    "network: line, optimizer: {type: sgd, momentum: 0.5}, learning_rate: {type: constant, start: 0.05}";

std::vector<double> weights_in(const std::string& path) {
  const auto file = io::File::open(path);
  auto out = file.read<std::vector<double>>("weights/a");
  out.push_back(file.read<std::vector<double>>("weights/b")[0]);
  return out;
}

}  // namespace

TEST_CASE("terms that count different things: a session does as the stage train") {
  Comm world;
  const SharedScratch scratch(world);
  Registry registry;
  register_training(registry);
  add_types(registry);
  Log log;
  Timing timing;
  Context context{world, log, timing, &registry, 5, scratch.folder, "", "", nullptr, false, false};
  const std::string deck = "{" + keys + ", dataset: frames, batch: 8, log: 1, steps: " + std::to_string(steps) + "}";
  registry.make<Task>("train", deck::parse(deck, "test"), context)->run(context);
  world.barrier();
  const auto expected = weights_in(scratch.file("model.h5"));
  const auto losses = io::File::open(scratch.file("training.h5")).read<std::vector<double>>("training/loss");
  REQUIRE(losses.size() == steps);

  Session session(world.handle(), "{" + keys + "}", add_types);
  const Frames mine(frames * world.rank() / world.size(), frames * (world.rank() + 1) / world.size());
  for (int k = 0; k < steps; ++k) CHECK(session.step(mine.arrays()) == Approx(losses[k]).epsilon(1e-12));
  session.write_model(scratch.file("session.h5"));
  world.barrier();
  const auto found = weights_in(scratch.file("session.h5"));
  for (std::size_t k = 0; k < 2; ++k) CHECK(found[k] == Approx(expected[k]).epsilon(1e-12));
  // The weighted mean by hand before the first step: six frames with an energy, twenty particles, not eight of each.
  double energy = 0.0, force = 0.0;
  const Frames all(0, frames);
  for (std::size_t k = 0; k < frames; ++k) {
    double sum = 0.0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(all.size[k]); ++i) {
      const double x = all.x[places * k + i];
      sum += 0.1 * x - 0.05 * x * x;
      force += std::pow(-(0.1 - 0.1 * x) - all.force[places * k + i], 2);
    }
    if (all.energy[k] != no_energy) energy += std::pow(sum - all.energy[k], 2);
  }
  CHECK(losses[0] == Approx(0.7 * energy / 6.0 + 0.2 * force / 20.0).epsilon(1e-12));
}

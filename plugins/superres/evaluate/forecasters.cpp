#include "plugins/superres/evaluate/forecasters.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "core/base/key_error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/superres/equations/well_layout.hpp"
#include "plugins/superres/evaluate/vrmse.hpp"
#include "plugins/superres/samples/resampling.hpp"
#include "plugins/superres/samples/snapshot.hpp"

namespace cambium::superres {
namespace {

class Persistence : public Forecaster {
 public:
  void start(const FieldData& seen) override { last_ = frame_of(seen, seen.axis[0].size() - 1); }
  FieldData next(double time) override {
    last_.axis[0] = {time};
    return last_;
  }

 protected:
  FieldData last_;
};

class MeanFrame : public Persistence {
 public:
  void start(const FieldData& seen) override {
    Persistence::start(seen);
    for (auto& values : last_.values) values.assign(values.size(), mean_of(values));
  }
};

/// Grid with every `ratio`-th face of the cells around the positions.
Grid coarsened_grid(Grid grid, int ratio) {
  std::vector<double> face;
  for (std::size_t k = 0; k < grid.face.size(); k += static_cast<std::size_t>(ratio)) face.push_back(grid.face[k]);
  grid.nx /= ratio;
  grid.nz /= ratio;
  grid.face = std::move(face);
  return grid;
}

/// Every cell divided into `parts` x `parts`.
Grid refined_grid(Grid grid, int parts) {
  std::vector<double> face;
  for (std::size_t k = 0; k + 1 < grid.face.size(); ++k)
    for (int j = 0; j < parts; ++j) face.push_back(grid.face[k] + (grid.face[k + 1] - grid.face[k]) * j / parts);
  face.push_back(grid.face.back());
  grid.nx *= parts;
  grid.nz *= parts;
  grid.face = std::move(face);
  return grid;
}

class Solver : public Forecaster {
 public:
  Solver(const SolvedLayer& layer, std::string name) : layer_(layer), name_(std::move(name)) {}

  void start(const FieldData& seen) override {
    const int ratio = layer_.ratio;
    if (seen.nx() % static_cast<std::size_t>(ratio) || seen.nz() % static_cast<std::size_t>(ratio))
      throw KeyError(
          "score_forecasts.coarse", "coarse",
          fmt::format("a solver {} times as coarse needs grids that {} divides, and '{}' has {} x {} points: "
                      "choose another 'coarse'",
                      ratio, ratio, seen.file, seen.nx(), seen.nz()));
    places_ = seen.axis;
    auto frame = frame_of(seen, seen.axis[0].size() - 1);
    shift_buoyancy(frame, -layer_.b_shift);
    Grid grid = grid_of(frame, places_);
    const double left = grid.periodic ? places_[1].front() - 0.5 * grid.dx() : 0.0;
    if (ratio > 1) {
      grid = coarsened_grid(std::move(grid), ratio);
      std::vector<double> x, z;
      for (int i = 0; i < grid.nx; ++i) x.push_back(left + grid.dx() * (i + 0.5));
      for (int k = 0; k < grid.nz; ++k) z.push_back(grid.center(k));
      frame = resampled(resampled(frame, 1, x, 4), 2, z, 4);
    }
    if (layer_.finer > 1) grid = refined_grid(std::move(grid), layer_.finer);
    faces_ = grid.face;
    solver_.emplace(grid, fluid_of(layer_.flow, grid.periodic), left, frame.axis[0].front(), name_);
    solver_->add(std::move(frame));
  }

  FieldData next(double time) override {
    solver_->advance(time);
    correct(*solver_);
    auto out = solver_->now();
    if (layer_.finer > 1) {
      for (auto& values : out.values) values = block_means(values, faces_, layer_.finer);
      out.axis = places_;
      out.axis[0] = {time};
    } else {
      out = resampled(resampled(out, 1, places_[1], 4), 2, places_[2], 4);
    }
    shift_buoyancy(out, layer_.b_shift);
    return out;
  }

 protected:
  virtual void correct(FrameSolver&) {}

 private:
  SolvedLayer layer_;
  std::string name_;
  std::array<std::vector<double>, 3> places_;
  std::vector<double> faces_;
  std::optional<FrameSolver> solver_;
};

class CorrectedSolver : public Solver {
 public:
  CorrectedSolver(const SolvedLayer& layer, std::string name, NetworkCorrection& correction)
      : Solver(layer, std::move(name)), correction_(correction) {}

 private:
  void correct(FrameSolver& solver) override { solver.add(correction_.increments(solver.now())); }
  NetworkCorrection& correction_;
};

class Network : public Forecaster {
 public:
  Network(train::LoadedModel& model, int history) : model_(model), history_(history) {}

  void start(const FieldData& seen) override { seen_ = seen; }
  FieldData next(double time) override {
    const auto sample = snapshot(seen_, seen_.axis[0].size() - static_cast<std::size_t>(history_), history_, 0, 0);
    FieldData out = frame_of(seen_, 0);
    const std::size_t nodes = out.nx() * out.nz();
    std::vector<double> answer(out.values.size() * nodes);
    const auto view =
        io::tensor_of(answer.data(), {1, std::ssize(out.values), std::ssize(out.axis[1]), std::ssize(out.axis[2])});
    model_.network->infer(std::span(&sample, 1), model_.weights.views(), std::span(&view, 1));
    out.axis[0] = {time};
    for (std::size_t f = 0; f < out.values.size(); ++f) {
      out.values[f].assign(answer.begin() + static_cast<std::ptrdiff_t>(f * nodes),
                           answer.begin() + static_cast<std::ptrdiff_t>((f + 1) * nodes));
      auto& own = seen_.values[f];
      own.erase(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(nodes));
      own.insert(own.end(), out.values[f].begin(), out.values[f].end());
    }
    seen_.axis[0].erase(seen_.axis[0].begin());
    seen_.axis[0].push_back(time);
    return out;
  }

 private:
  train::LoadedModel& model_;
  int history_;
  FieldData seen_;
};

}  // namespace

std::unique_ptr<Forecaster> persistence_forecaster() { return std::make_unique<Persistence>(); }
std::unique_ptr<Forecaster> mean_forecaster() { return std::make_unique<MeanFrame>(); }
std::unique_ptr<Forecaster> solver_forecaster(const SolvedLayer& layer, std::string name) {
  return std::make_unique<Solver>(layer, std::move(name));
}
std::unique_ptr<Forecaster> corrected_forecaster(const SolvedLayer& layer, std::string name,
                                                 NetworkCorrection& correction, const FieldData& truth) {
  correction.require_cells(truth.nx(), truth.nz());
  const auto& t = truth.axis[0];
  if (std::fabs(t[1] - t[0] - correction.interval()) > 1e-3 * correction.interval())
    throw KeyError("score_forecasts.corrections", "corrections",
                   fmt::format("'{}' corrects every {:g} free-fall times, and frames of '{}' are {:g} apart: give data "
                               "of that interval",
                               name, correction.interval(), truth.file, t[1] - t[0]));
  return std::make_unique<CorrectedSolver>(layer, std::move(name), correction);
}

std::unique_ptr<Forecaster> network_forecaster(train::LoadedModel& model, const std::string& file,
                                               const FieldData& truth, int history) {
  std::array<std::int64_t, 3> grid{};
  bool forecasts = false;
  for (const auto& field : model.info.fields) {
    if (field.info.name == "coarse" && field.info.shape.size() == 4)
      grid = {field.info.shape[1], field.info.shape[2], field.info.shape[3]};
    forecasts = forecasts || field.info.name == "future";
  }
  if (!forecasts)
    throw KeyError(
        "score_forecasts.models", "models",
        fmt::format("model '{}' does not forecast: train a fourier_operator, a vision_transformer or a flow_unet "
                    "on a data set of the type 'snapshots'",
                    file));
  if (grid[1] != std::ssize(truth.axis[1]) || grid[2] != std::ssize(truth.axis[2]) || grid[0] > history)
    throw KeyError(
        "score_forecasts.models.grid", "models",
        fmt::format("model '{}' reads {} frame(s) of {} x {} points, and the data have {} x {} and 'history' "
                    "is {}: give data of its grid, and a 'history' of {} or more",
                    file, grid[0], grid[1], grid[2], truth.nx(), truth.nz(), history, grid[0]));
  return std::make_unique<Network>(model, static_cast<int>(grid[0]));
}

}  // namespace cambium::superres

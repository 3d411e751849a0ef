#include "plugins/podlstm/forecast/ensemble.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/io/hdf5/seal.hpp"
#include "core/io/model_seal.hpp"
#include "core/io/provenance.hpp"
#include "core/parallel/agree.hpp"

namespace cambium::podlstm {

void write_ensemble(const EnsembleFile& e, const Preparation& preparation, const Forecaster& linear, Context& context) {
  const auto path = (std::filesystem::path(context.run_directory) / "ensemble.h5").string();
  io::write_sealed_h5(path, [&](io::File& file) {
    file.set_attribute("window", e.shape.past);
    file.set_attribute("horizon", e.shape.future);
    file.set_attribute("modes", e.modes);
    file.set_attribute("linear_share", e.linear_share);
    file.set_attribute("cell", static_cast<int>(e.options.network.cell));
    file.set_attribute("head", static_cast<int>(e.options.network.head));
    file.set_attribute("inputs", static_cast<int>(e.options.inputs));
    file.set_attribute("calendar", e.options.calendar);
    file.set_attribute("harmonics", e.options.harmonics);
    file.set_attribute("period", e.options.period);
    auto scaling = file.create_group("preparation"), line = file.create_group("linear");
    preparation.write(scaling);
    write_harmonic_ridge(linear, line);
    for (std::size_t k = 0; k < e.networks.size(); ++k) {
      auto group = file.create_group(fmt::format("networks/{:03}", k));
      group.write("genome", std::vector<int>(e.networks[k].genome));
      group.write("weights", e.networks[k].weights);
    }
    io::write_provenance(file, io::provenance_of(context));
  });
}

namespace {

struct Stored {
  EnsembleFile file;
  std::shared_ptr<const Preparation> preparation;
  std::unique_ptr<Forecaster> linear;
};

Stored read(const std::string& path) {
  const io::File file = io::File::open(path);
  if (!file.exists("networks") || !file.exists("preparation"))
    throw InputError(fmt::format("'{}' is no ensemble; name the ensemble.h5 that a stage `search` wrote", path));
  Stored out;
  auto& e = out.file;
  e.shape = {file.attribute<std::int64_t>("window"), file.attribute<std::int64_t>("horizon")};
  e.modes = file.attribute<std::int64_t>("modes");
  e.linear_share = file.attribute<double>("linear_share");
  e.options.network.cell = static_cast<Cell>(file.attribute<int>("cell"));
  e.options.network.head = static_cast<Head>(file.attribute<int>("head"));
  e.options.inputs = static_cast<Inputs>(file.attribute<int>("inputs"));
  e.options.calendar = file.attribute<int>("calendar");
  e.options.harmonics = file.attribute<int>("harmonics");
  e.options.period = file.attribute<double>("period");
  out.preparation = std::make_shared<Preparation>(e.options, file.group("preparation"));
  out.linear = read_harmonic_ridge(file.group("linear"));
  const auto networks = file.group("networks");
  for (const auto& name : networks.list()) {
    const auto group = networks.group(name);
    e.networks.push_back({group.read<std::vector<int>>("genome"), group.read<std::vector<float>>("weights")});
  }
  return out;
}

}  // namespace

Ensemble::Ensemble(const std::string& path, const WindowShape& shape, std::int64_t modes, Context& context) {
  Stored stored;
  bool sealed = false;
  io::on_every_rank(context.comm, [&] {
    sealed = io::require_sound_model(path);
    stored = read(path);
  });
  if (!sealed) context.log.info(io::no_checksum_note(path));
  const auto& e = stored.file;
  if (e.shape.past != shape.past || e.shape.future != shape.future || e.modes != modes)
    throw InputError(fmt::format(
        "'{}' forecasts {} modes over {} times from {}, but the series has {} modes, horizon is {} and window {}", path,
        e.modes, e.shape.future, e.shape.past, modes, shape.future, shape.past));
  linear_share_ = e.linear_share;
  linear_ = std::move(stored.linear);
  for (const auto& network : e.networks) {
    MemberOptions o = e.options;
    o.network.genome = network.genome;
    members_.emplace_back(o, 0, context);
    members_.back().restore(stored.preparation, shape, modes, network.weights);
  }
}

std::string Ensemble::name() const {
  return fmt::format("{} networks ({:.0f} % linear)", members_.size(), 100.0 * linear_share_);
}

Matrix Ensemble::predict(const Stretch& s, const std::vector<std::int64_t>& starts, const WindowShape& shape) const {
  Matrix spread;
  return predict(s, starts, shape, spread);
}

Matrix Ensemble::predict(const Stretch& s, const std::vector<std::int64_t>& starts, const WindowShape& shape,
                         Matrix& spread) const {
  const Matrix line = linear_->predict(s, starts, shape);
  Matrix sum(line.rows, line.cols);
  spread = sum;
  for (const auto& member : members_) {
    const Matrix y = member.predict(s, starts, shape);
    for (std::size_t e = 0; e < y.a.size(); ++e) {
      sum.a[e] += y.a[e];
      spread.a[e] += y.a[e] * y.a[e];
    }
  }
  const auto n = static_cast<double>(members_.size());
  for (std::size_t e = 0; e < sum.a.size(); ++e) {
    const double mean = sum.a[e] / n;
    spread.a[e] = (1.0 - linear_share_) * std::sqrt(std::max(0.0, spread.a[e] / n - mean * mean));
    sum.a[e] = (1.0 - linear_share_) * mean + linear_share_ * line.a[e];
  }
  return sum;
}

}  // namespace cambium::podlstm

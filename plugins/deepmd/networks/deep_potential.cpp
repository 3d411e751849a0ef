#include "plugins/deepmd/networks/deep_potential.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/base/key_error.hpp"
#include "core/io/model_seal.hpp"
#include "core/parallel/random.hpp"
#include "plugins/deepmd/datasets/statistics.hpp"
#include "plugins/deepmd/networks/energy_bias.hpp"
#include "plugins/deepmd/training/parameters.hpp"

namespace cambium::deepmd {

FramePtr FrameCache::get(const train::Sample& sample, const std::vector<std::string>& type_map, double rcut) {
  const std::uint64_t key = fingerprint(sample);
  if (const auto found = frames_.find(key); found != frames_.end()) return found->second;
  auto frame = std::make_shared<const TrainingFrame>(frame_of(sample, type_map, rcut));
  if (bytes_ + frame->bytes() <= limit_) {
    frames_[key] = frame;
    bytes_ += frame->bytes();
  }
  return frame;
}

void DeepPotentialNetwork::Params::describe(deck::Describe<Params>& d) {
  d("descriptor", &Params::descriptor, "se_e2_a: distances and angles; se_e2_r: distances only")
      .options({{"se_e2_a", Descriptor::se_e2_a}, {"se_e2_r", Descriptor::se_e2_r}})
      .def(Descriptor::se_e2_a);
  d("type_map", &Params::type_map, "species in the model's order; absent: as they come in the data").def({});
  d("rcut", &Params::rcut, "cut-off radius (Å)").unit("angstrom").positive().def(6.0);
  d("rcut_smth", &Params::rcut_smth, "inner radius (Å) at which the smooth switching of a neighbour's weight begins")
      .unit("angstrom")
      .non_negative()
      .def(0.5);
  d("sel", &Params::sel,
    "neighbour slots by species, a constant of the model and no limit here (in DeePMD-kit it is one); absent: a tenth "
    "more than the data need")
      .example("[46, 92]");
  d("sel_short", &Params::sel_short,
    "action if sel is too small for the data: raise it with a warning (that of init is kept), or refuse")
      .options({{"raise", SelShort::raise}, {"refuse", SelShort::refuse}})
      .def(SelShort::raise);
  d("neuron", &Params::neuron, "widths of the embedding network").def({25, 50, 100});
  d("axis_neuron", &Params::axis_neuron, "columns of the embedding that make the descriptor (se_e2_a)")
      .at_least(1)
      .def(16);
  d("fitting", &Params::fitting, "widths of the energy network").def({240, 240, 240});
  d("resnet_dt", &Params::resnet_dt, "trainable factors on the energy network's layers").def(true);
  d("type_one_side", &Params::type_one_side, "embedding by the neighbour's species only").def(true);
  d("precision", &Params::precision,
    "floating-point precision of weights and networks; geometry and sums over atoms use float64")
      .options({{"float64", DType::f64}, {"float32", DType::f32}})
      .def(DType::f64);
  d("interpolation", &Params::interpolation,
    "interpolation error of embedding networks in training, relative to the largest slope: they are evaluated at nodes "
    "and interpolated at pairs; 0: evaluated at every pair; default: 1e-12 in float64, 1e-8 in float32")
      .example("1e-10");
  d("loss", &Params::loss, "weights of the errors of energy, force and virial");
  d("init", &Params::init, "model file (.dp, .yaml) to start from, whose shape and statistics replace those above")
      .def("");
  d("change_bias", &Params::change_bias,
    "fine-tuning with init: shift of the energy bias by the mean error of the model's energies on the new data, by "
    "species (DeePMD-kit's change-bias); false keeps the model's own")
      .def(true);
  d("statistics_frames", &Params::statistics_frames, "maximum number of frames for the data statistics")
      .at_least(1)
      .def(1000);
  d("memory", &Params::memory, "MiB per rank for neighbour lists of the data").non_negative().def(1024.0);
  d.check([](const Params& p) -> std::string {
    if (p.rcut_smth >= p.rcut) return "rcut_smth must be less than rcut";
    if (p.neuron.empty() || p.fitting.empty()) return "neuron and fitting need at least one layer each";
    for (int n : p.neuron)
      if (n < 3 || n > 1000) return "the widths of neuron must lie between 3 and 1000";
    for (int n : p.fitting)
      if (n < 1) return "the widths of fitting must be positive";
    if (p.descriptor == Descriptor::se_e2_a && p.axis_neuron > p.neuron.back())
      return "axis_neuron is more than the last width of neuron";
    if (p.interpolation && *p.interpolation != 0.0 && (*p.interpolation < 1e-13 || *p.interpolation > 1e-3))
      return "interpolation must be 0 or lie between 1e-13 and 1e-3";
    if (p.sel && !p.type_map.empty() && p.sel->size() != p.type_map.size())
      return fmt::format("sel has {} number(s), type_map {} species", p.sel->size(), p.type_map.size());
    return "";
  });
}

namespace {
/// Refuses what a model file may hold and training does not do.
void require_trainable(const DeepPotentialModel& m) {
  const auto refuse = [&](const std::string& what) {
    throw KeyError("deep_potential.init.trainable", "init",
                   fmt::format("{}: cannot be trained further: {}", m.source, what));
  };
  if (!m.tables.empty()) refuse("it is compressed; start from the model that it was made of");
  if (m.fparam.size || m.aparam.size) refuse("it takes frame or atomic parameters");
  if (m.fitting.size() != m.type_map.size()) refuse("one energy network serves all species");
  const auto any = [](const std::vector<char>& flags) {
    return std::find(flags.begin(), flags.end(), 1) != flags.end();
  };
  if (any(m.atom_excluded) || any(m.pair_excluded) || any(m.fitting_excluded) || any(m.subtract_vacuum))
    refuse("it excludes types or subtracts the vacuum's energy");
  for (const auto* nets : {&m.embedding, &m.fitting})
    for (const deepmd::Network& net : *nets)
      for (const Layer& layer : net.layers) {
        const bool last = nets == &m.fitting && &layer == &net.layers.back();
        const auto kind = layer.activation.kind;
        if (kind != (last ? Activation::Kind::linear : Activation::Kind::tanh)) refuse("a hidden layer is not tanh");
        if (layer.b.empty()) refuse("a layer has no bias");
        if (nets == &m.embedding && !layer.idt.empty()) refuse("its embedding networks have resnet_dt");
      }
}
}  // namespace

DeepPotentialNetwork::DeepPotentialNetwork(const Params& params, Context& context)
    : params_(params), cache_(params.memory) {
  if (params_.init.empty() || is_still_to_come(params_.init, context)) return;
  start_ = DeepPotentialModel::load(params_.init);
  if (!io::require_sound_model(params_.init)) context.log.info(io::no_checksum_note(params_.init));
  require_trainable(*start_);
}

DeepPotentialNetwork::~DeepPotentialNetwork() = default;

/// Species are known once the data were looked at.
void DeepPotentialNetwork::examine(Check& check) {
  check.require_written_by("init", params_.init, {{Origin::model_of, "deep_potential"}});
  const Origin model{Origin::model_of, "deep_potential"};
  for (const char* name : {"model.dp", "model.yaml"}) check.will_write({name, model, shape_.type_map});
}

namespace {

Layer empty_layer(int in, int out, bool hidden, bool timestep) {
  Layer layer;
  layer.in = in;
  layer.out = out;
  layer.activation = Activation::from_name(hidden ? "tanh" : "linear");
  layer.residual = hidden;
  layer.w.assign(static_cast<std::size_t>(in) * static_cast<std::size_t>(out), 0.0);
  layer.b.assign(out, 0.0);
  if (timestep && layer.copies()) layer.idt.assign(out, 0.0);
  return layer;
}

Network empty_network(int in, const std::vector<int>& widths, bool fitting, bool timestep) {
  Network net;
  for (int width : widths) {
    net.layers.push_back(empty_layer(in, width, true, timestep));
    in = width;
  }
  if (fitting) net.layers.push_back(empty_layer(in, 1, false, false));
  return net;
}

}  // namespace

/// Sizes, from the deck; statistics are filled in by the caller.
void DeepPotentialNetwork::build_shape() {
  DeepPotentialModel& m = shape_;
  m.source = "trained here";
  m.type_map = params_.type_map;
  const std::size_t nt = m.type_map.size();
  m.descriptor = params_.descriptor == Descriptor::se_e2_a ? DeepPotentialModel::Descriptor::se_e2_a
                                                           : DeepPotentialModel::Descriptor::se_e2_r;
  m.rcut = params_.rcut;
  m.rcut_smth = params_.rcut_smth;
  m.axis_neuron = m.components() == 4 ? params_.axis_neuron : 0;
  m.type_one_side = params_.type_one_side;
  m.precision = params_.precision == DType::f64 ? "float64" : "float32";
  m.embedding.assign(m.type_one_side ? nt : nt * nt, empty_network(1, params_.neuron, false, false));
  m.fitting.assign(nt, empty_network(m.descriptor_size(), params_.fitting, true, params_.resnet_dt));
  m.output_bias.assign(nt, 0.0);
  m.fitting_bias.assign(nt, 0.0);
  m.subtract_vacuum.assign(nt, 0);
  m.fitting_excluded.assign(nt, 0);
  m.atom_excluded.assign(nt, 0);
  m.pair_excluded.assign(nt * nt, 0);
}

void DeepPotentialNetwork::make_work() {
  work_ = LossGradient::make(params_.precision, shape_, params_.loss.intensive, params_.interpolation_tolerance());
}

/// Species in the order in which the data set names them, where the deck names none.
void DeepPotentialNetwork::collect_species(train::Dataset& training) {
  if (!params_.type_map.empty()) return;
  std::vector<std::int64_t> ids(training.size());
  std::iota(ids.begin(), ids.end(), 0);
  for (const std::int64_t id : ids)
    for (const std::string& symbol : species_of(*training.read(std::span(&id, 1)).front()))
      if (std::find(params_.type_map.begin(), params_.type_map.end(), symbol) == params_.type_map.end())
        params_.type_map.push_back(symbol);
}

void DeepPotentialNetwork::require_sane(const Statistics& s) const {
  int neighbours = 0;
  for (int n : s.most_neighbours) neighbours += n;
  if (neighbours == 0)
    throw KeyError(
        "deep_potential.rcut.no_neighbour", "rcut",
        fmt::format("no atom of the training data has a neighbour within rcut = {:g} Å; check the unit of the data's "
                    "lengths, which are taken to be in Å",
                    params_.rcut));
  constexpr double least = 0.3;  // Å, half the bond of H2
  if (s.closest < least)
    throw InputError(
        fmt::format("the closest pair of atoms of the training data is {:.3g} Å apart; check the unit of the data's "
                    "lengths, which are taken to be in Å",
                    s.closest));
}

/// Frame k of `used` ones that are spread over all of a data set.
static std::int64_t spread(std::int64_t k, std::int64_t used, std::int64_t all) { return k * all / used; }

void DeepPotentialNetwork::go_on_from_start(train::Dataset& training, Context& context) {
  shape_ = *start_;
  params_.type_map = shape_.type_map;
  shape_.precision = params_.precision == DType::f64 ? "float64" : "float32";
  context.log.info(fmt::format("deep_potential: starts from {}, whose shape and statistics are kept", params_.init));
  require_slots_of_start(training, context);
  if (params_.change_bias)
    change_bias(training, context);
  else
    context.log.info("deep_potential: its energy bias is kept, too (change_bias: false)");
  make_work();
}

/// Energies of another reference, such as another functional's, differ by a constant per species that no learning rate
/// reaches.
void DeepPotentialNetwork::change_bias(train::Dataset& training, Context& context) {
  const std::int64_t n = training.size(), used = std::min<std::int64_t>(n, params_.statistics_frames);
  const auto frame = [&](std::int64_t k) {
    const std::int64_t id = spread(k, used, n);
    return cache_.get(*training.read(std::span(&id, 1)).front(), shape_.type_map, shape_.rcut);
  };
  const BiasChange change = bias_change(*start_, used, frame, params_.interpolation_tolerance(), context.comm);
  if (change.frames == 0)
    return context.log.info("deep_potential: its energy bias is kept, too: the training data hold no energies");
  context.log.info(
      fmt::format("deep_potential: its energy bias is changed to that of {} frames of the training data; error of "
                  "their energies {:.4g} -> {:.4g} eV/atom (change_bias: false keeps the bias)",
                  change.frames, change.before, change.after));
  for (std::size_t t = 0; t < shape_.type_map.size(); ++t) {
    const auto& symbol = shape_.type_map[t];
    const double before = shape_.fitting_bias[t] + shape_.output_bias[t], after = before + change.shift[t];
    shape_.fitting_bias[t] += change.shift[t];
    context.log.info(
        change.present[t]
            ? fmt::format("deep_potential: {}: energy bias {:.6g} -> {:.6g} eV", symbol, before, after)
            : fmt::format("deep_potential: {0}: energy bias {1:.6g} eV, kept: the data have no {0}", symbol, before));
  }
}

void DeepPotentialNetwork::fit_statistics(train::Dataset& training, Context& context) {
  if (training.size() == 0) throw InputError("the training data hold no frame");
  if (start_) return go_on_from_start(training, context);
  collect_species(training);
  build_shape();
  const int nt = shape_.ntypes();
  StatisticsSums sums(nt, params_.rcut, params_.rcut_smth, shape_.components() == 1);
  const std::int64_t n = training.size(), used = std::min<std::int64_t>(n, params_.statistics_frames);
  for (std::int64_t k = 0; k < used; ++k) {
    const std::int64_t id = spread(k, used, n);
    sums.add(*cache_.get(*training.read(std::span(&id, 1)).front(), shape_.type_map, shape_.rcut));
  }
  most_neighbours_ =
      used == n ? sums.most_neighbours() : most_neighbours(training, shape_.type_map, shape_.rcut, context.comm);
  shape_.sel = settle_sel(params_.sel, most_neighbours_, shape_.type_map, params_.sel_short, context.log);
  const Statistics s = sums.result(shape_.sel);
  require_sane(s);
  shape_.mean.clear();
  shape_.deviation.clear();
  for (std::size_t ti = 0; ti < static_cast<std::size_t>(nt); ++ti)
    for (int tj = 0; tj < nt; ++tj) {
      shape_.mean.push_back({s.mean[ti], 0.0, 0.0, 0.0});
      shape_.deviation.push_back({s.radial[ti], s.angular[ti], s.angular[ti], s.angular[ti]});
    }
  shape_.fitting_bias = s.bias;
  shape_.min_distance = s.closest;
  context.log.info(fmt::format(
      "deep_potential: {} frames, at most [{}] neighbours ({}), sel [{}], closest pair {:.4f} Å", used,
      fmt::join(most_neighbours_, ", "), fmt::join(shape_.type_map, " "), fmt::join(shape_.sel, ", "), s.closest));
  for (std::size_t t = 0; t < static_cast<std::size_t>(nt); ++t)
    context.log.info(fmt::format("deep_potential: {}: mean {:.5f}, deviations {:.4f} {:.4f}, energy bias {:.6g} eV",
                                 shape_.type_map[t], s.mean[t], s.radial[t], s.angular[t], s.bias[t]));
  make_work();
}

/// sel cannot change without changing the energies of the model that training starts from.
void DeepPotentialNetwork::require_slots_of_start(train::Dataset& training, Context& context) {
  const auto most = most_neighbours(training, shape_.type_map, shape_.rcut, context.comm);
  most_neighbours_.resize(most.size(), 0);
  for (std::size_t t = 0; t < most.size(); ++t) most_neighbours_[t] = std::max(most_neighbours_[t], most[t]);
  if (!exceeds_sel(shape_, most_neighbours_)) return;
  if (params_.sel_short == SelShort::refuse)
    throw KeyError("deep_potential.init.sel", "init",
                   fmt::format("{}: {} (sel_short: raise goes on)", params_.init, about_sel(shape_, most_neighbours_)));
  context.log.warn(about_sel(shape_, most_neighbours_));
}

std::vector<train::ParameterInfo> DeepPotentialNetwork::parameters() const { return parameters_of(shape_); }

std::vector<int> DeepPotentialNetwork::modules() const {
  std::vector<int> out = first_parameters(shape_);
  out.pop_back();
  return out;
}

/// Weights normal with deviation 1/sqrt(in + out), biases standard normal, time steps 0.1 +- 0.001 as in DeePMD-kit;
/// the bias of the last layer is 0, because the energy bias is in the statistics.
void DeepPotentialNetwork::initialise(std::span<const TensorRef> weights, std::uint64_t seed) {
  if (start_) {
    params_.precision == DType::f64 ? copy_weights<double>(*start_, weights) : copy_weights<float>(*start_, weights);
    return;
  }
  DeepPotentialModel m = shape_;
  std::uint64_t array = 0;
  const auto fill = [&](std::vector<double>& values, double mean, double deviation) {
    ++array;
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = mean + deviation * Random4(seed, Stream::model_weights, array, k).normal(0);
  };
  for (auto* nets : {&m.embedding, &m.fitting})
    for (deepmd::Network& net : *nets)
      for (Layer& layer : net.layers) {
        const bool last = nets == &m.fitting && &layer == &net.layers.back();
        fill(layer.w, 0.0, 1.0 / std::sqrt(static_cast<double>(layer.in + layer.out)));
        fill(layer.b, 0.0, last ? 0.0 : 1.0);
        fill(layer.idt, 0.1, 0.001);
      }
  params_.precision == DType::f64 ? copy_weights<double>(m, weights) : copy_weights<float>(m, weights);
}

std::vector<train::TermInfo> DeepPotentialNetwork::terms() const {
  using Report = train::TermInfo::Report;
  const char* per = params_.loss.intensive ? "eV/atom" : "eV/√atom";
  std::vector<train::TermInfo> out = {{"energy", per, Report::root_mean}, {"force", "eV/Å", Report::root_mean}};
  if (params_.loss.uses_virial()) out.push_back({"virial", per, Report::root_mean});
  return out;
}

std::vector<double> DeepPotentialNetwork::term_weights(std::int64_t, double rate) const {
  const auto w = params_.loss.weights(rate);
  return {w.begin(), w.begin() + (params_.loss.uses_virial() ? 3 : 2)};
}

std::vector<FramePtr> DeepPotentialNetwork::frames(std::span<const train::SamplePtr> samples) {
  std::vector<FramePtr> out;
  for (const auto& sample : samples) out.push_back(cache_.get(*sample, shape_.type_map, shape_.rcut));
  return out;
}

void DeepPotentialNetwork::gradient(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                                    std::span<const double> term_weights, std::span<const TensorRef> gradients,
                                    std::span<train::TermSum> terms, const train::ReadyCallback& ready) {
  work_->gradient(frames(samples), weights, term_weights, gradients, terms, ready);
}

std::vector<train::TermInfo> DeepPotentialNetwork::metrics() const {
  using Report = train::TermInfo::Report;
  std::vector<train::TermInfo> out = {{"force", "eV/Å", Report::root_mean}, {"energy", "eV/atom", Report::root_mean}};
  if (params_.loss.uses_virial()) out.push_back({"virial", "eV/atom", Report::root_mean});
  out.push_back({"absolute_force", "eV/Å", Report::mean});
  return out;
}

void DeepPotentialNetwork::evaluate(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                                    std::span<train::TermSum> metrics) {
  work_->evaluate(frames(samples), weights, metrics);
}

void DeepPotentialNetwork::use_coded(const train::CodedWeights& coded) { work_->coded = &coded; }

DeepPotentialModel DeepPotentialNetwork::model(std::span<const TensorRef> weights) const {
  DeepPotentialModel m = shape_;
  params_.precision == DType::f64 ? store_weights<double>(weights, m) : store_weights<float>(weights, m);
  return m;
}

std::vector<std::string> DeepPotentialNetwork::export_model(const std::string& directory,
                                                            std::span<const TensorRef> weights,
                                                            Context& context) const {
  ModelTree tree = model(weights).to_tree();
  if (!most_neighbours_.empty()) tree.root["max_nbor_size"] = most_neighbours_;
  const std::string about = about_sel(shape_, most_neighbours_);
  if (exceeds_sel(shape_, most_neighbours_))
    context.log.warn(about);
  else if (!about.empty())
    context.log.info("model.dp, model.yaml: " + about);
  std::vector<std::string> out;
  for (const char* name : {"model.dp", "model.yaml"}) {
    save_model_tree(tree, directory + "/" + name);
    out.push_back(name);
  }
  return out;
}

}  // namespace cambium::deepmd

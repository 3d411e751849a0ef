#include "plugins/deepmd/networks/deep_potential.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/key_error.hpp"
#include "core/io/model_seal.hpp"
#include "core/parallel/random.hpp"
#include "plugins/deepmd/datasets/statistics.hpp"
#include "plugins/deepmd/model/type_embedding.hpp"
#include "plugins/deepmd/networks/energy_bias.hpp"
#include "plugins/deepmd/training/parameters.hpp"

namespace cambium::deepmd {

void DeepPotentialNetwork::Simulation::describe(deck::Describe<Simulation>& d) {
  d("precision", &Simulation::precision, "key precision of the potential")
      .options({{"float64", EnginePrecision::float64}, {"mixed", EnginePrecision::mixed}})
      .def(EnginePrecision::float64);
  d("compress", &Simulation::compress,
    "key compress of the potential: tables replace the embedding networks, which then need no factors; absent: no "
    "tables")
      .positive()
      .example("1e-8");
}

/// Factors of matrices, and the simulations that they are for.
static void describe_factors(deck::Describe<DeepPotentialNetwork::Params>& d) {
  using Params = DeepPotentialNetwork::Params;
  d("factor_ranks", &Params::ranks,
    "factor ranks of the low-rank factorisations, in order: layers of the embedding networks of se_e2_a and se_e2_r "
    "after the first (without simulation.compress), then hidden layers of the energy networks; 0 for a full matrix. A "
    "stage compress determines them")
      .def({});
  d("simulation", &Params::simulation,
    "evaluation of the model in simulations, of which a stage compress measures the time");
}

void DeepPotentialNetwork::Params::describe(deck::Describe<Params>& d) {
  describe_descriptor(d);
  d("hybrid", &Params::hybrid,
    "list of descriptors, whose outputs are concatenated, each with its own keys above; absent: one")
      .def({});
  d("type_map", &Params::type_map, "species in the model's order; absent: as they come in the data").def({});
  d("sel_short", &Params::sel_short,
    "action if sel is too small for the data: raise it with a warning (that of init is not changed), or refuse")
      .options({{"raise", SelShort::raise}, {"refuse", SelShort::refuse}})
      .def(SelShort::raise);
  d("fitting", &Params::fitting, "widths of the energy network").def({240, 240, 240});
  d("resnet_dt", &Params::resnet_dt, "trainable factors on the energy network's layers").def(true);
  d("numb_fparam", &Params::numb_fparam,
    "number of frame parameters that the energy network takes, such as a temperature; the data have as many")
      .non_negative()
      .def(0);
  d("numb_aparam", &Params::numb_aparam, "number of atomic parameters that the energy network takes for each atom")
      .non_negative()
      .def(0);
  d("precision", &Params::precision,
    "floating-point precision of weights and networks; geometry and sums over atoms use float64")
      .options({{"float64", DType::f64}, {"float32", DType::f32}})
      .def(DType::f64);
  d("interpolation", &Params::interpolation,
    "interpolation error of embedding networks in training, relative to the largest slope: they are evaluated at nodes "
    "and interpolated at pairs; 0: evaluated at every pair (se_e3: 1e-12); default: 1e-12 in float64, 1e-8 in float32")
      .example("1e-10");
  describe_factors(d);
  d("loss", &Params::loss, "weights of the errors of energy, force and virial");
  d("init", &Params::init, "model file (.dp, .yaml, .pb) to start from, whose shape and statistics replace those above")
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
    if (!p.hybrid.empty() && !(p.own() == DescriptorParams{}))
      return "with hybrid the keys of a descriptor (descriptor, rcut, neuron ...) belong in its entries";
    if (const std::string problem = p.problem(); !problem.empty()) return problem;
    if (p.fitting.empty()) return "fitting needs at least one layer";
    for (int n : p.fitting)
      if (n < 1) return "the widths of fitting must be positive";
    const auto any = [&](auto is) { return std::any_of(p.hybrid.begin(), p.hybrid.end(), is); };
    if (any([](const DescriptorParams& one) { return one.together(); }) &&
        any([](const DescriptorParams& one) { return !one.together() && !one.type_embedding.empty(); }))
      return "hybrid: se_e2_a with type_embedding and se_atten cannot be combined; leave out type_embedding of se_e2_a";
    if (p.interpolation && *p.interpolation != 0.0 && (*p.interpolation < 1e-13 || *p.interpolation > 1e-3))
      return "interpolation must be 0 or between 1e-13 and 1e-3";
    for (const DescriptorParams& one : p.descriptors())
      if (one.sel && !p.type_map.empty() && one.sel->size() != p.type_map.size() &&
          !(one.together() && one.sel->size() == 1))
        return fmt::format("sel has {} value(s), type_map {} species", one.sel->size(), p.type_map.size());
    return train::ranks_problem(p.ranks, std::nullopt);
  });
}

namespace {

/// True for a species' embedding and the networks of attention, whose layers may be linear and without bias.
bool is_linear(const DeepPotentialModel& m, const Network* net) {
  for (const DeepPotentialModel& part : m.descriptors()) {
    if (net == &part.type_embedding) return true;
    for (const Network& own : part.attention.networks)
      if (net == &own) return true;
  }
  return false;
}

/// Rejects features that a model file may have but training does not support.
void require_trainable(const DeepPotentialModel& m) {
  const auto refuse = [&](const std::string& what) {
    throw KeyError("deep_potential.init.trainable", "init",
                   fmt::format("{}: cannot be trained further: {}", m.source, what));
  };
  for (const DeepPotentialModel& part : m.descriptors()) {
    if (!part.tables.empty()) refuse("it is compressed; start from the model that it was made of");
    if (!part.attention.trainable_norm) refuse("its layer norms are fixed (trainable_ln: false)");
  }
  const auto any = [](const std::vector<char>& flags) {
    return std::find(flags.begin(), flags.end(), 1) != flags.end();
  };
  bool excludes = any(m.atom_excluded) || any(m.fitting_excluded) || any(m.subtract_vacuum);
  for (const DeepPotentialModel& part : m.descriptors()) excludes = excludes || any(part.pair_excluded);
  if (excludes) refuse("it excludes types or subtracts the vacuum's energy");
  const auto nets = networks_of(m);
  for (std::size_t n = 0; n < nets.size(); ++n)
    for (const Layer& layer : nets[n]->layers) {
      const bool fitting = n + m.fitting.size() >= nets.size(), last = fitting && &layer == &nets[n]->layers.back();
      const auto kind = layer.activation.kind;
      const bool free = is_linear(m, nets[n]);  // any number of such layers is equivalent to a hidden one
      if (kind != (last ? Activation::Kind::linear : Activation::Kind::tanh) &&
          !(free && kind == Activation::Kind::linear))
        refuse("a hidden layer is not tanh");
      if (layer.b.empty() && !free) refuse("a layer has no bias");
      if (!fitting && !layer.idt.empty() && !free) refuse("its embedding networks have resnet_dt");
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

/// The species are known after the data have been examined.
void DeepPotentialNetwork::examine(Check& check) {
  check.require_written_by("init", params_.init, {{Origin::model_of, "deep_potential"}});
  const Origin model{Origin::model_of, "deep_potential"};
  for (const char* name : {"model.dp", "model.yaml"}) check.will_write({name, model, shape_.type_map});
}

/// Sets the sizes from the deck; the caller fills in the statistics.
void DeepPotentialNetwork::build_shape() {
  DeepPotentialModel& m = shape_;
  m = {};
  m.source = "trained here";
  m.type_map = params_.type_map;
  const std::size_t nt = m.type_map.size();
  m.precision = params_.precision == DType::f64 ? "float64" : "float32";
  build_descriptor(params_, m);
  for (const DescriptorParams& one : params_.hybrid) {
    m.descriptor = Descriptor::hybrid;
    m.embedding.clear();
    DeepPotentialModel& part = m.parts.emplace_back();
    part.source = m.source;
    part.type_map = m.type_map;
    part.precision = m.precision;
    build_descriptor(one, part);
  }
  if (!m.parts.empty()) m.gather_parts();
  m.fparam.size = params_.numb_fparam;
  m.aparam.size = params_.numb_aparam;
  const int inputs = m.descriptor_size() + m.fparam.size + m.aparam.size;
  m.fitting.assign(has_type_embedding(m) ? 1 : nt, empty_energy_network(inputs, params_.fitting, params_.resnet_dt));
  require_separable(m);
  m.output_bias.assign(nt, 0.0);
  m.fitting_bias.assign(nt, 0.0);
  m.subtract_vacuum.assign(nt, 0);
  m.fitting_excluded.assign(nt, 0);
  m.atom_excluded.assign(nt, 0);
  apply_ranks(m, false);
}

void DeepPotentialNetwork::make_work() {
  work_ = LossGradient::make(params_.precision, shape_, params_.loss.form(), params_.interpolation_tolerance());
}

/// If the deck names no species, takes them in the order in which the data set names them.
void DeepPotentialNetwork::collect_species(train::Dataset& training, const Comm& comm) {
  if (params_.type_map.empty()) params_.type_map = species_of_data(training, comm);
}

void DeepPotentialNetwork::require_sane(const Statistics& s) const {
  int neighbours = 0;
  for (int n : s.most_neighbours) neighbours += n;
  if (neighbours == 0)
    throw KeyError(
        "deep_potential.rcut.no_neighbour", "rcut",
        fmt::format("no atom of the training data has a neighbour within rcut = {:g} Å; check the unit of the data's "
                    "lengths, which are taken to be in Å",
                    shape_.rcut));
  constexpr double least = 0.3;  // Å, half the bond length of H2
  if (s.closest < least)
    throw InputError(
        fmt::format("the closest pair of atoms of the training data is {:.3g} Å apart; check the unit of the data's "
                    "lengths, which are taken to be in Å",
                    s.closest));
}

/// Index in a data set of `all` frames of the k-th of `used` frames spread evenly over it.
static std::int64_t spread(std::int64_t k, std::int64_t used, std::int64_t all) { return k * all / used; }

void DeepPotentialNetwork::go_on_from_start(train::Dataset& training, Context& context) {
  shape_ = *start_;
  params_.type_map = shape_.type_map;
  apply_ranks(shape_, false);
  shape_.precision = params_.precision == DType::f64 ? "float64" : "float32";
  context.log.info(fmt::format("deep_potential: starts from {}, with its shape and statistics", params_.init));
  require_slots_of_start(training, context);
  if (params_.change_bias)
    change_bias(training, context);
  else
    context.log.info("deep_potential: its energy bias is not changed (change_bias: false)");
  count_work(training);
  make_work();
}

/// Energies with another reference, such as those of another functional, differ by a constant per species that no
/// learning rate can learn.
void DeepPotentialNetwork::change_bias(train::Dataset& training, Context& context) {
  const std::int64_t n = training.size(), used = std::min<std::int64_t>(n, params_.statistics_frames);
  const auto frame = [&](std::int64_t k) {
    const std::int64_t id = spread(k, used, n);
    return frame_of_sample(*training.read(std::span(&id, 1)).front());
  };
  const BiasChange change = bias_change(*start_, used, frame, params_.interpolation_tolerance(), context.comm);
  if (change.frames == 0)
    return context.log.info("deep_potential: its energy bias is not changed: the training data hold no energies");
  context.log.info(
      fmt::format("deep_potential: its energy bias is changed to that of {} frames of the training data; error of "
                  "their energies {:.4g} -> {:.4g} eV/atom (change_bias: false keeps the bias)",
                  change.frames, change.before, change.after));
  for (std::size_t t = 0; t < shape_.type_map.size(); ++t) {
    const auto& symbol = shape_.type_map[t];
    const double before = shape_.fitting_bias[t] + shape_.output_bias[t], after = before + change.shift[t];
    shape_.fitting_bias[t] += change.shift[t];
    context.log.info(change.present[t]
                         ? fmt::format("deep_potential: {}: energy bias {:.6g} -> {:.6g} eV", symbol, before, after)
                         : fmt::format("deep_potential: {0}: energy bias {1:.6g} eV, not changed: the data have no {0}",
                                       symbol, before));
  }
}

void DeepPotentialNetwork::fit_statistics(train::Dataset& training, Context& context) {
  if (training.size() == 0) throw InputError("the training data hold no frame");
  if (start_) return go_on_from_start(training, context);
  collect_species(training, context.comm);
  build_shape();
  const auto parts = std::as_const(shape_).descriptors();
  ParameterSums of_frame(params_.numb_fparam), of_atom(params_.numb_aparam);
  std::vector<StatisticsSums> sums;
  for (const DeepPotentialModel& part : parts)
    sums.emplace_back(shape_.ntypes(), part.rcut, part.rcut_smth, part.components() == 1);
  const std::int64_t n = training.size(), used = std::min<std::int64_t>(n, params_.statistics_frames);
  for (std::int64_t k = 0; k < used; ++k) {
    const std::int64_t id = spread(k, used, n);
    const FramePtr frame = frame_of_sample(*training.read(std::span(&id, 1)).front());
    for (StatisticsSums& one : sums) one.add(*frame);
    of_frame.add(frame->fparam);
    of_atom.add(frame->aparam);
  }
  shape_.fparam = of_frame.result();
  shape_.aparam = of_atom.result();
  std::vector<std::vector<int>> most;
  std::vector<Statistics> statistics;
  for (std::size_t k = 0; k < sums.size(); ++k) {
    const auto& given = params_.hybrid.empty() ? params_.sel : params_.hybrid[k].sel;
    const bool together = parts[k].descriptor == Descriptor::se_atten;
    most.push_back(used == n ? sums[k].most_neighbours(together)
                             : most_neighbours(training, shape_.type_map, parts[k].rcut, context.comm, together));
    shape_.descriptors()[k].sel =
        together ? shared_slots(settle_total(given, most[k], params_.sel_short, context.log), shape_.ntypes())
                 : settle_sel(given, most[k], shape_.type_map, params_.sel_short, context.log);
    statistics.push_back(sums[k].result(parts[k].sel));
    if (parts[k].rcut == shape_.rcut) most_neighbours_ = most[k];
  }
  take_statistics(statistics);
  const DeepPotentialModel& m = shape_;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const Statistics& s = statistics[k];
    const std::vector<int> slots = most[k].size() == 1 ? std::vector{parts[k].neighbours()} : parts[k].sel;
    context.log.info(
        fmt::format("deep_potential: {}{} frames, at most [{}] neighbours ({}), sel [{}], closest pair {:.4f} Å",
                    m.parts.empty() ? "" : fmt::format("{} to {:g} Å: ", m.name_of(parts[k].descriptor), parts[k].rcut),
                    used, fmt::join(most[k], ", "), fmt::join(m.type_map, " "), fmt::join(slots, ", "), s.closest));
    for (std::size_t t = 0; t < m.type_map.size(); ++t)
      context.log.info(
          fmt::format("deep_potential: {}: mean {:.5f}, standard deviations {:.4f} {:.4f}, energy bias {:.6g} eV",
                      m.type_map[t], parts[k].mean[t * m.type_map.size()][0], s.radial[t], s.angular[t], s.bias[t]));
  }
  count_work(training);
  make_work();
}

/// Statistics of each descriptor; energy biases and the closest pair are the same in all of them.
void DeepPotentialNetwork::take_statistics(const std::vector<Statistics>& statistics) {
  const auto types = shape_.type_map.size();
  for (std::size_t k = 0; k < statistics.size(); ++k) {
    DeepPotentialModel& part = shape_.descriptors()[k];
    const Statistics& s = statistics[k];
    require_sane(s);
    part.mean.clear();
    part.deviation.clear();
    for (std::size_t ti = 0; ti < types; ++ti)
      for (std::size_t tj = 0; tj < types; ++tj) {
        const bool shifted = part.descriptor != Descriptor::se_atten;  // its empty slots have no species
        part.mean.push_back({shifted ? s.mean[ti] : 0.0, 0.0, 0.0, 0.0});
        part.deviation.push_back({s.radial[ti], s.angular[ti], s.angular[ti], s.angular[ti]});
      }
  }
  if (!shape_.parts.empty()) shape_.gather_parts();
  shape_.fitting_bias = statistics.front().bias;
  shape_.min_distance = statistics.front().closest;
}

/// A change of sel would change the energies of the initial model.
void DeepPotentialNetwork::require_slots_of_start(train::Dataset& training, Context& context) {
  const bool together = shape_.descriptor == Descriptor::se_atten;
  const auto most = most_neighbours(training, shape_.type_map, shape_.rcut, context.comm, together);
  most_neighbours_.resize(most.size(), 0);
  for (std::size_t t = 0; t < most.size(); ++t) most_neighbours_[t] = std::max(most_neighbours_[t], most[t]);
  if (!exceeds_sel(shape_, most_neighbours_)) return;
  if (params_.sel_short == SelShort::refuse)
    throw KeyError(
        "deep_potential.init.sel", "init",
        fmt::format("{}: {} (sel_short: raise continues)", params_.init, about_sel(shape_, most_neighbours_)));
  context.log.warn(about_sel(shape_, most_neighbours_));
}

std::vector<train::ParameterInfo> DeepPotentialNetwork::parameters() const { return parameters_of(shape_); }

std::vector<int> DeepPotentialNetwork::modules() const {
  std::vector<int> out = first_parameters(shape_);
  out.pop_back();
  return out;
}

/// Weights normal with deviation 1/sqrt(in + out), biases standard normal, time steps 0.1 +- 0.001 as in DeePMD-kit,
/// factors of layer norms 1 and their shifts 0; the bias of the last layer is 0, because the energy bias is in the
/// statistics.
void DeepPotentialNetwork::initialise(std::span<const TensorRef> weights, std::uint64_t seed) {
  if (start_) {
    DeepPotentialModel m = *start_;
    apply_ranks(m, true);
    params_.precision == DType::f64 ? copy_weights<double>(m, weights) : copy_weights<float>(m, weights);
    return;
  }
  DeepPotentialModel m = shape_;
  std::uint64_t array = 0;
  const auto fill = [&](std::vector<double>& values, double mean, double deviation) {
    ++array;
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = mean + deviation * Random4(seed, Stream::model_weights, array, k).normal(0);
  };
  const auto nets = networks_of(m);
  for (std::size_t n = 0; n < nets.size(); ++n)
    for (Layer& layer : nets[n]->layers) {
      const bool last = n + m.fitting.size() >= nets.size() && &layer == &nets[n]->layers.back();
      if (layer.rank > 0) {
        fill(layer.enter, 0.0, 1.0 / std::sqrt(static_cast<double>(layer.in + layer.rank)));
        fill(layer.leave, 0.0, 1.0 / std::sqrt(static_cast<double>(layer.rank + layer.out)));
      } else {
        fill(layer.w, 0.0, 1.0 / std::sqrt(static_cast<double>(layer.in + layer.out)));
      }
      fill(layer.b, 0.0, last ? 0.0 : 1.0);
      fill(layer.idt, 0.1, 0.001);
    }
  for (DeepPotentialModel& part : m.descriptors())
    for (std::size_t k = 2; k < part.attention.networks.size(); k += 3) {
      Layer& norm = part.attention.networks[k].layers.front();
      std::fill(norm.w.begin(), norm.w.end(), 1.0);
      std::fill(norm.b.begin(), norm.b.end(), 0.0);
    }
  params_.precision == DType::f64 ? copy_weights<double>(m, weights) : copy_weights<float>(m, weights);
}

std::vector<train::TermInfo> DeepPotentialNetwork::terms() const {
  using Report = train::TermInfo::Report;
  if (params_.loss.use_huber) {
    std::vector<train::TermInfo> out = {{"energy", "(eV/atom)²", Report::mean}, {"force", "(eV/Å)²", Report::mean}};
    if (params_.loss.uses_virial()) out.push_back({"virial", "(eV/atom)²", Report::mean});
    return out;
  }
  const char* per = params_.loss.intensive ? "eV/atom" : "eV/√atom";
  std::vector<train::TermInfo> out = {{"energy", per, Report::root_mean}, {"force", "eV/Å", Report::root_mean}};
  if (params_.loss.uses_virial()) out.push_back({"virial", per, Report::root_mean});
  return out;
}

std::vector<double> DeepPotentialNetwork::term_weights(std::int64_t, double rate) const {
  const auto w = params_.loss.weights(rate);
  return {w.begin(), w.begin() + (params_.loss.uses_virial() ? 3 : 2)};
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
  evaluated_.assign(terms().size(), {});
  work_->evaluate(frames(samples), weights, metrics, evaluated_);
}

void DeepPotentialNetwork::add_loss(std::span<const train::SamplePtr>, std::span<const TensorRef>,
                                    std::span<train::TermSum> terms) {
  train::add_terms(evaluated_, terms);
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

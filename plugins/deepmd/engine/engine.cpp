#include "plugins/deepmd/engine/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/base/error.hpp"
#include "core/parallel/host_threads.hpp"
#include "plugins/deepmd/engine/atoms_by_type.hpp"
#include "plugins/deepmd/engine/scatter.hpp"
#include "plugins/deepmd/model/contraction.hpp"
#include "plugins/deepmd/model/embedding_net.hpp"
#include "plugins/deepmd/model/fitting_net.hpp"
#include "plugins/deepmd/model/network_jet.hpp"
#include "plugins/deepmd/model/padding.hpp"

namespace cambium::deepmd {

namespace {

/// Appends the frame and atom parameters to the descriptor rows.
template <class T>
void append_parameters(int atoms, int first_column, const View<T*>& common, const View<int*>& rows, int first_row,
                       const View<double**>& aparam, const View<double*>& mean, const View<double*>& inverse,
                       const Matrix<T>& x) {
  const int n = static_cast<int>(common.extent(0)), own = static_cast<int>(aparam.extent(1)), frame = n - own;
  if (n == 0) return;
  Kokkos::parallel_for(
      "deep_potential: parameters", Range(0, atoms * n), KOKKOS_LAMBDA(const int item) {
        const int atom = item / n, c = item % n, k = c - frame;
        x(atom, first_column + c) =
            k < 0 || own == 0 ? common(c) : static_cast<T>((aparam(rows(first_row + atom), k) - mean(k)) * inverse(k));
      });
}

/// Adds `bias` to each fitting energy, gives the result to the atoms and returns the sum.
double add_energies(int atoms, const View<double*>& fitted, double bias, const View<int*>& rows, int first_row,
                    const View<double*>& atom_energy) {
  const bool per_atom = atom_energy.extent(0) > 0;
  double sum = 0.0;
  Kokkos::parallel_reduce(
      "deep_potential: energy", Range(0, atoms),
      KOKKOS_LAMBDA(const int atom, double& total) {
        const double e = fitted(atom) + bias;
        if (per_atom) atom_energy(rows(first_row + atom)) += e;
        total += e;
      },
      sum);
  return sum;
}

View<double*> upload(const std::string& label, const std::vector<double>& values) {
  View<double*> out(label, values.size());
  auto host = Kokkos::create_mirror_view(out);
  for (std::size_t k = 0; k < values.size(); ++k) host(k) = values[k];
  Kokkos::deep_copy(out, host);
  return out;
}

/// The first layer's rows in the order of our descriptor: the file's are [channel][axis], and those of D[n][m] and
/// D[m][n] are added.
Network folded(const DescriptorShape& shape, const Network& net) {
  Network out = net;
  if (shape.components == 1) return out;
  const int channels = shape.channels, axis = shape.axis;
  Layer& first = out.layers.front();
  const auto width = static_cast<std::size_t>(first.out);
  const auto parameters = static_cast<std::size_t>(first.in - channels * axis);
  first.residual = false;  // of this size it copied nothing; of the new one it might
  first.in = shape.columns() + static_cast<int>(parameters);
  first.w.assign(static_cast<std::size_t>(first.in) * width, 0.0);
  const std::vector<double>& w = net.layers.front().w;
  for (int m = 0; m < channels; ++m)
    for (int n = 0; n < axis; ++n) {
      const auto from = static_cast<std::size_t>(m * axis + n) * width;
      const auto to = static_cast<std::size_t>(shape.base(std::min(m, n)) + std::max(m, n)) * width;
      for (std::size_t k = 0; k < width; ++k) first.w[to + k] += w[from + k];
    }
  std::copy_n(w.end() - static_cast<std::ptrdiff_t>(parameters * width), parameters * width,
              first.w.end() - static_cast<std::ptrdiff_t>(parameters * width));
  return out;
}

/// Many rows, because the weights come from the last cache or from memory once for each chunk, and every rank has its
/// own; but they cost memory, and the embedding networks' rows of all their pairs should stay in the cache. As many for
/// each thread, which has a cache of its own: kernels that all threads start and wait for are then as few as with one.
int default_chunk(bool tables) {
  if (!device_is_host) return tables ? 65536 : 16384;  // a card has room for some 200,000 threads
  return (tables ? 128 : 64) * host_threads();
}

/// Inputs of the kernels for one centre type.
template <class T>
struct Centre {
  NeighborKinds kinds;
  View<T**> padding;  ///< see contract_pairs()
  std::optional<FittingNet<T>> fitting;
  double bias = 0.0;   ///< everything that is added to the fitting energy
  bool fitted = true;  ///< false: the atom has only its bias
};

template <class T>
class TypedEngine : public Engine {
 public:
  TypedEngine(const DeepPotentialModel& model, const EngineOptions& options);
  void compute(const EngineInput& input, EngineOutput& output) override;
  void set_fparam(std::span<const double> values) override;
  const DeepPotentialModel& model() const override { return model_; }
  const TableReport* table() const override { return tables_ ? &tables_->report : nullptr; }
  double fitting_flops(int type) const override {
    const auto& net = centres_[type].fitting;
    return net ? net->flops() : 0.0;
  }
  std::size_t bytes() const override;
  Network fitting_network(int type) const override {
    return whole_ ? model_.fitting_of(type) : folded(shape_, model_.fitting_of(type));
  }
  void set_fitting_network(int type, const Network& net, std::span<const lowp::BinaryCodedMatrix> coded) override;
  void watch_inputs(std::vector<std::vector<double>>* by_type) override { watched_ = by_type; }

 private:
  void watch(int type, int atoms, const Matrix<T>& x);
  void prepare_parameters();
  void prepare_centre(int type);
  double vacuum_energy(int type) const;
  double bias_of(int type) const;
  void compute_chunk(int type, int first, int atoms, const EngineInput& input, EngineOutput& output);
  void run_networks(int type);
  template <class Rows>
  void run_pairs(int type, const Rows& rows, int first, const EngineInput& input);

  DeepPotentialModel model_;
  EngineOptions options_;
  DescriptorShape shape_;
  bool whole_ = false;  ///< the fitting networks take D in the file's order, not folded
  View<int*> slots_;
  std::vector<EmbeddingNet<T>> nets_;
  std::optional<TableSet<T>> tables_;
  std::vector<Centre<T>> centres_;
  std::vector<Network> others_;  ///< energy networks set in the place of the model's, by type; or none
  std::vector<std::vector<double>>* watched_ = nullptr;
  std::vector<double> common_host_;  ///< normalised fparam and aparam
  View<T*> common_;
  View<double*> aparam_mean_, aparam_inverse_;

  AtomsByType atoms_;
  PairList<T> pairs_;
  typename EmbeddingNet<T>::Workspace net_work_;
  FittingWorkspace<T> fit_work_;
  Matrix<T> embedded_, a_, da_;
  Matrix<T> d_;       ///< D, later its adjoint
  Matrix<T> file_d_;  ///< the same in the file's order, where that is needed
  View<double*> fitted_;
  View<double* [3]> gradient_;
};

template <class T>
TypedEngine<T>::TypedEngine(const DeepPotentialModel& model, const EngineOptions& options)
    : model_(model), options_(options) {
  if (options_.chunk <= 0) options_.chunk = default_chunk(options_.compress_tolerance > 0.0 || !model_.tables.empty());
  const bool radial = model_.components() == 1;
  // A first layer that adds its input to its output needs that input whole.
  whole_ = !radial && std::any_of(model_.fitting.begin(), model_.fitting.end(),
                                  [](const Network& net) { return net.layers.front().copies() > 0; });
  shape_ = {model_.width(), model_.axis_neuron, model_.components(), (radial ? 0.2 : 1.0) / model_.neighbours()};
  slots_ = View<int*>("deep_potential: sel", model_.sel.size());
  auto slots = Kokkos::create_mirror_view(slots_);
  for (std::size_t k = 0; k < model_.sel.size(); ++k) slots(k) = model_.sel[k];
  Kokkos::deep_copy(slots_, slots);
  if (options_.compress_tolerance > 0.0) {
    const double r_min = options_.table_r_min > 0.0 ? options_.table_r_min : default_table_r_min(model_);
    tables_ = upload_tables<T>(model_, tabulate_networks(model_, options_.compress_tolerance, r_min));
  } else if (!model_.tables.empty()) {
    tables_ = upload_tables<T>(model_, model_.tables);
  } else {
    for (const Network& net : model_.embedding) nets_.emplace_back(net);
  }
  prepare_parameters();
  for (int t = 0; t < model_.ntypes(); ++t) prepare_centre(t);
}

template <class T>
void TypedEngine<T>::prepare_parameters() {
  common_host_.clear();
  auto add = [&](const ParameterInput& input, const std::vector<double>& given, const char* name) {
    const std::vector<double>& values = given.empty() ? input.fallback : given;
    if (static_cast<int>(values.size()) != input.size)
      throw InputError(fmt::format("{}: the model takes {} value(s) of {}, the deck gives {}; set {}: [...]",
                                   model_.source, input.size, name, values.size(), name));
    for (std::size_t k = 0; k < values.size(); ++k)
      common_host_.push_back((values[k] - input.mean[k]) * input.inverse_deviation[k]);
  };
  add(model_.fparam, options_.fparam, "fparam");
  add(model_.aparam, options_.aparam, "aparam");
  common_ = View<T*>("deep_potential: parameters", common_host_.size());
  auto host = Kokkos::create_mirror_view(common_);
  for (std::size_t k = 0; k < common_host_.size(); ++k) host(k) = static_cast<T>(common_host_[k]);
  Kokkos::deep_copy(common_, host);
  aparam_mean_ = upload("deep_potential: aparam mean", model_.aparam.mean);
  aparam_inverse_ = upload("deep_potential: aparam scale", model_.aparam.inverse_deviation);
}

template <class T>
double TypedEngine<T>::vacuum_energy(int type) const {
  if (!model_.subtract_vacuum[type]) return 0.0;
  const Network& net = others_.empty() ? model_.fitting_of(type) : others_[type];
  std::vector<double> input(static_cast<std::size_t>(net.in()) - common_host_.size(), 0.0);
  input.insert(input.end(), common_host_.begin(), common_host_.end());
  return evaluate(net, input)[0];
}

template <class T>
void TypedEngine<T>::set_fitting_network(int type, const Network& net, std::span<const lowp::BinaryCodedMatrix> coded) {
  if (others_.empty())
    for (int t = 0; t < model_.ntypes(); ++t) others_.push_back(fitting_network(t));
  others_[type] = net;
  Centre<T>& centre = centres_[type];
  if (centre.fitted) centre.fitting.emplace(net, coded);
  centre.bias = bias_of(type);
}

template <class T>
void TypedEngine<T>::watch(int type, int atoms, const Matrix<T>& x) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
  auto& rows = (*watched_)[type];
  const int n = centres_[type].fitting->in();
  for (int row = 0; row < atoms; ++row)
    for (int c = 0; c < n; ++c) rows.push_back(static_cast<double>(host(row, c)));
}

template <class T>
double TypedEngine<T>::bias_of(int type) const {
  const auto t = static_cast<std::size_t>(type);
  if (model_.atom_excluded[t]) return 0.0;
  if (model_.fitting_excluded[t]) return model_.output_bias[t];
  return model_.output_bias[t] + model_.fitting_bias[t] - vacuum_energy(type);
}

template <class T>
void TypedEngine<T>::set_fparam(std::span<const double> values) {
  options_.fparam.assign(values.begin(), values.end());
  prepare_parameters();
  for (int t = 0; t < model_.ntypes(); ++t) centres_[t].bias = bias_of(t);
}

template <class T>
void TypedEngine<T>::prepare_centre(int type) {
  const auto nt = static_cast<std::size_t>(model_.ntypes()), t = static_cast<std::size_t>(type);
  Centre<T> centre;
  centre.fitted = !model_.atom_excluded[t] && !model_.fitting_excluded[t];
  centre.bias = bias_of(type);
  NeighborKinds& kinds = centre.kinds;
  kinds.cutoff = CutOff::make(model_.rcut_smth, model_.rcut, model_.env_protection, options_.float32_cutoffs);
  kinds.ntypes = model_.ntypes();
  kinds.components = model_.components();
  kinds.mean = View<double**>("deep_potential: mean", nt, 4);
  kinds.inverse_deviation = View<double**>("deep_potential: scale", nt, 4);
  kinds.hidden = View<char*>("deep_potential: hidden", nt);
  auto mean = Kokkos::create_mirror_view(kinds.mean), inverse = Kokkos::create_mirror_view(kinds.inverse_deviation);
  auto hidden = Kokkos::create_mirror_view(kinds.hidden);
  for (std::size_t j = 0; j < nt; ++j) {
    hidden(j) = model_.pair_excluded[t * nt + j];
    for (std::size_t k = 0; k < static_cast<std::size_t>(kinds.components); ++k) {
      mean(j, k) = model_.mean[t * nt + j][k];
      inverse(j, k) = 1.0 / model_.deviation[t * nt + j][k];
    }
  }
  Kokkos::deep_copy(kinds.mean, mean);
  Kokkos::deep_copy(kinds.inverse_deviation, inverse);
  Kokkos::deep_copy(kinds.hidden, hidden);
  centre.padding =
      tables_ ? padding_of_tables(model_, *tables_, type) : padding_of_networks(model_, nets_, net_work_, type);
  if (centre.fitted) centre.fitting.emplace(fitting_network(type));
  centres_.push_back(std::move(centre));
}

template <class T>
void TypedEngine<T>::compute(const EngineInput& input, EngineOutput& output) {
  if (input.aparam.extent(0) > 0)
    for (char flag : model_.subtract_vacuum)
      if (flag)
        throw InputError(fmt::format("{}: atom_ener together with a different aparam for every atom is not supported",
                                     model_.source));
  atoms_.sort(input, model_.ntypes());
  output.closest = model_.rcut;
  for (int t = 0; t < model_.ntypes(); ++t) {
    const int begin = atoms_.begin[t], end = atoms_.begin[static_cast<std::size_t>(t) + 1];
    const int chunks = (end - begin + options_.chunk - 1) / options_.chunk;
    const int rows = chunks == 0 ? 1 : (end - begin + chunks - 1) / chunks;  // equal ones: no short last one
    for (int first = begin; first < end; first += rows)
      compute_chunk(t, first, std::min(rows, end - first), input, output);
  }
}

template <class T>
void TypedEngine<T>::run_networks(int type) {
  int widest = 1;
  for (int t = 0; t < model_.ntypes(); ++t)
    widest = std::max(widest, pairs_.type_first[static_cast<std::size_t>(t) + 1]);
  reserve(embedded_, "deep_potential: embedded", 2 * widest, shape_.channels);
  for (int t = 0; t < model_.ntypes(); ++t) {
    const int first = pairs_.type_first[t];
    const int count = pairs_.type_first[static_cast<std::size_t>(t) + 1] - first;
    nets_[model_.embedding_index(type, t)].evaluate(count, pairs_.input, first, net_work_, embedded_, 2 * first);
  }
}

template <class T>
template <class Rows>
void TypedEngine<T>::run_pairs(int type, const Rows& rows, int first, const EngineInput& input) {
  const Centre<T>& centre = centres_[type];
  contract_pairs(pairs_, rows, shape_, centre.padding, slots_, a_);
  make_descriptor(pairs_.atoms, a_, shape_, d_);
  const Matrix<T> x = whole_ ? file_d_ : d_;
  if (whole_) expand_descriptor(pairs_.atoms, shape_, d_, x);
  append_parameters(pairs_.atoms, whole_ ? shape_.file_columns() : shape_.columns(), common_, atoms_.rows, first,
                    input.aparam, aparam_mean_, aparam_inverse_, x);
  if (watched_) watch(type, pairs_.atoms, x);
  centre.fitting->evaluate(pairs_.atoms, x, fit_work_, fitted_, x);
  if (whole_) fold_adjoint(pairs_.atoms, shape_, x, d_);
  descriptor_adjoint(pairs_.atoms, a_, d_, shape_, da_);
  pair_gradients(pairs_, rows, shape_, centre.kinds, da_, gradient_);
}

template <class T>
void TypedEngine<T>::compute_chunk(int type, int first, int atoms, const EngineInput& input, EngineOutput& output) {
  const Centre<T>& centre = centres_[type];
  const int row = shape_.components * padded<T>(shape_.channels);
  const int columns = shape_.columns() + static_cast<int>(common_.extent(0)) + lanes<T>;
  reserve(a_, "deep_potential: a", options_.chunk, row);
  reserve(da_, "deep_potential: da", options_.chunk, row);
  reserve(d_, "deep_potential: descriptor", options_.chunk, columns);
  if (whole_) {
    const int all = shape_.file_columns() + static_cast<int>(common_.extent(0)) + lanes<T>;
    reserve(file_d_, "deep_potential: whole descriptor", options_.chunk, all);
  }
  if (fitted_.extent(0) == 0)
    fitted_ = View<double*>("deep_potential: fitted", static_cast<std::size_t>(options_.chunk));
  if (centre.fitted) {
    pairs_.build(input.particles, input.list, atoms_.rows, first, atoms, input.model_type, centre.kinds,
                 tables_ ? &*tables_ : nullptr, type, options_.close_limit);
    output.closest = std::min(output.closest, pairs_.closest);
    output.too_close += pairs_.too_close;
    if (gradient_.extent(0) < static_cast<std::size_t>(pairs_.pairs))
      gradient_ = View<double* [3]>("deep_potential: gradient", static_cast<std::size_t>(pairs_.pairs) * 5 / 4);
    if (tables_) {
      run_pairs(type, TableRows<T>{tables_->coefficients.data(), tables_->stride()}, first, input);
    } else {
      run_networks(type);
      run_pairs(type, NetworkRows<T>{embedded_.data(), static_cast<int>(embedded_.extent(1))}, first, input);
    }
    scatter_forces(pairs_, atoms_.rows, first, gradient_, output.f);
    if (input.totals) add_virial(pairs_, gradient_, output.virial);
    if (output.atom_virial.extent(0) > 0) scatter_virials(pairs_, gradient_, output.atom_virial);
  } else {
    Kokkos::deep_copy(fitted_, 0.0);
  }
  if (input.totals || output.atom_energy.extent(0) > 0)
    output.energy += add_energies(atoms, fitted_, centre.bias, atoms_.rows, first, output.atom_energy);
}

template <class T>
std::size_t TypedEngine<T>::bytes() const {
  std::size_t n =
      atoms_.rows.size() * sizeof(int) + pairs_.bytes() + fit_work_.bytes() + gradient_.size() * sizeof(double);
  n += (embedded_.size() + net_work_.rows[0].size() + net_work_.rows[1].size()) * sizeof(T);
  n += (a_.size() + da_.size() + d_.size() + file_d_.size()) * sizeof(T);
  if (tables_) n += tables_->bytes();
  for (const auto& centre : centres_)
    if (centre.fitting) n += centre.fitting->bytes();
  return n;
}

}  // namespace

std::unique_ptr<Engine> make_engine(const DeepPotentialModel& model, const EngineOptions& options) {
  if (options.precision == EnginePrecision::mixed) return std::make_unique<TypedEngine<float>>(model, options);
  return std::make_unique<TypedEngine<double>>(model, options);
}

}  // namespace cambium::deepmd

#include "plugins/deepmd/engine/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/base/error.hpp"
#include "core/parallel/host_threads.hpp"
#include "plugins/deepmd/engine/atoms_by_type.hpp"
#include "plugins/deepmd/engine/descriptor_part.hpp"
#include "plugins/deepmd/model/fitting_net.hpp"
#include "plugins/deepmd/model/network_jet.hpp"
#include "plugins/deepmd/model/type_embedding.hpp"

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

/// Adds `bias` to each fitting energy, stores the result by atom and returns the sum.
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

/// Large chunks, because the weights are read from the last-level cache or memory once per chunk and every rank has its
/// own copy; but they cost memory, and the embedding rows of all their pairs should stay in cache. The same number for
/// each thread, which has its own cache: there are then as few kernel launches as with one thread.
int default_chunk(bool tables) {
  if (!device_is_host) return tables ? 65536 : 16384;  // a GPU runs some 200,000 threads at once
  return (tables ? 128 : 64) * host_threads();
}

/// The energy of one type of atom.
template <class T>
struct Centre {
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
  const TableReport* table() const override { return tables_ ? &*tables_ : nullptr; }
  double fitting_flops(int type) const override {
    const auto& net = centres_[type].fitting;
    return net ? net->flops() : 0.0;
  }
  std::size_t bytes() const override;
  Network fitting_network(int type) const override {
    return whole_ ? model_.fitting_of(type) : folded(model_.fitting_of(type));
  }
  void set_fitting_network(int type, const Network& net, std::span<const lowp::BinaryCodedMatrix> coded) override;
  void watch_inputs(std::vector<std::vector<double>>* by_type) override { watched_ = by_type; }

 private:
  void watch(int type, int atoms, const Matrix<T>& x);
  void prepare_parameters();
  void prepare_centre(int type);
  double vacuum_energy(int type) const;
  double bias_of(int type) const;
  Network folded(const Network& net) const;
  std::vector<double> folded_rows(const std::vector<double>& file, int rows, int columns) const;
  void prepare_parts();
  void compute_chunk(const Chunk& chunk, EngineOutput& output);
  void run_parts(const Chunk& chunk, EngineOutput& output);

  DeepPotentialModel model_;
  EngineOptions options_;
  std::vector<std::unique_ptr<DescriptorPart<T>>> parts_;
  int columns_ = 0, file_columns_ = 0;  ///< of the descriptor: ours, and the file's
  bool whole_ = false;                  ///< the fitting networks take D in the file's order, not folded
  std::optional<TableReport> tables_;   ///< of all parts
  std::vector<Centre<T>> centres_;
  std::vector<Network> others_;  ///< energy networks that replace the model's, by type; may be empty
  std::vector<std::vector<double>>* watched_ = nullptr;
  std::vector<double> common_host_;  ///< normalised fparam and aparam
  View<T*> common_;
  View<double*> aparam_mean_, aparam_inverse_;

  AtomsByType atoms_;
  FittingWorkspace<T> fit_work_;
  Matrix<T> d_;       ///< D, later its adjoint
  Matrix<T> file_d_;  ///< the same in the file's order, where needed
  View<double*> fitted_;
};

/// Columns first .. first + n of a matrix.
template <class T>
Matrix<T> columns_of(const Matrix<T>& matrix, int first, int n) {
  return Kokkos::subview(matrix, Kokkos::ALL, std::pair<int, int>(first, first + n));
}

template <class T>
TypedEngine<T>::TypedEngine(const DeepPotentialModel& model, const EngineOptions& options)
    : model_(model), options_(options) {
  const bool stored = std::any_of(model_.descriptors().begin(), model_.descriptors().end(),
                                  [](const DeepPotentialModel& part) { return !part.tables.empty(); });
  if (options_.compress_tolerance > 0.0 && !(options_.table_r_min > 0.0))
    options_.table_r_min = default_table_r_min(model_);
  if (options_.chunk <= 0) options_.chunk = default_chunk(options_.compress_tolerance > 0.0 || stored);
  prepare_parts();
  prepare_parameters();
  for (int t = 0; t < model_.ntypes(); ++t) prepare_centre(t);
}

template <class T>
void TypedEngine<T>::prepare_parts() {
  for (const DeepPotentialModel& part : std::as_const(model_).descriptors()) {
    if (part.descriptor == DeepPotentialModel::Descriptor::se_e3)
      parts_.push_back(make_angle_part<T>(part, options_));
    else if (part.attention.layers() > 0)
      parts_.push_back(make_attention_part<T>(part, options_));
    else
      parts_.push_back(make_pair_part<T>(part, options_));
    const DescriptorPart<T>& made = *parts_.back();
    columns_ += made.columns();
    file_columns_ += made.file_columns();
    options_.chunk = std::min(options_.chunk, made.largest_chunk());
    if (!made.table()) continue;
    if (!tables_) tables_.emplace();
    tables_->add(*made.table());
  }
  // A first layer with a residual connection needs its unfolded input.
  whole_ = columns_ != file_columns_ && std::any_of(model_.fitting.begin(), model_.fitting.end(),
                                                    [](const Network& net) { return net.layers.front().copies() > 0; });
}

/// Rows of a matrix by the columns of the descriptor, in the layout of our parts; those of parameters follow.
template <class T>
std::vector<double> TypedEngine<T>::folded_rows(const std::vector<double>& file, int rows, int columns) const {
  const auto width = static_cast<std::size_t>(columns);
  std::vector<double> out(static_cast<std::size_t>(rows) * width, 0.0);
  const double* from = file.data();
  double* to = out.data();
  for (const auto& part : parts_) {
    part->fold(from, width, to);
    from += static_cast<std::size_t>(part->file_columns()) * width;
    to += static_cast<std::size_t>(part->columns()) * width;
  }
  std::copy_n(from, static_cast<std::size_t>(rows - columns_) * width, to);
  return out;
}

/// An energy network for the descriptor in the layout of our parts.
template <class T>
Network TypedEngine<T>::folded(const Network& net) const {
  Network out = net;
  if (columns_ == file_columns_) return out;
  Layer& first = out.layers.front();
  first.residual = false;  // copies nothing at the old size, but might at the new one
  first.in += columns_ - file_columns_;
  first.w = folded_rows(net.layers.front().w, first.in, first.out);
  if (first.rank > 0) first.enter = folded_rows(net.layers.front().enter, first.in, first.rank);
  return out;
}

template <class T>
void TypedEngine<T>::prepare_parameters() {
  common_host_.clear();
  auto add = [&](const ParameterInput& input, const std::vector<double>& given, const char* name) {
    const std::vector<double>& values = given.empty() ? input.fallback : given;
    if (static_cast<int>(values.size()) != input.size && options_.of_data)
      throw InputError(
          fmt::format("{0}: the model takes {1} value(s) of {2}, the data and the options give {3}; put {2}.npy "
                      "into the data, or give --{2} to `cambium deepmd eval` or `test`",
                      model_.source, input.size, name, values.size()));
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
  const auto t = static_cast<std::size_t>(type);
  Centre<T> centre;
  centre.fitted = !model_.atom_excluded[t] && !model_.fitting_excluded[t];
  centre.bias = bias_of(type);
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
    const int rows = chunks == 0 ? 1 : (end - begin + chunks - 1) / chunks;  // of equal size: no short last one
    for (int first = begin; first < end; first += rows)
      compute_chunk({input, atoms_.rows, first, std::min(rows, end - first), t, options_.close_limit}, output);
  }
}

template <class T>
void TypedEngine<T>::run_parts(const Chunk& chunk, EngineOutput& output) {
  const Centre<T>& centre = centres_[chunk.type];
  const Matrix<T> x = whole_ ? file_d_ : d_;
  Chunk counted = chunk;
  int from = 0, file_from = 0;
  for (const auto& part : parts_) {
    const Matrix<T> d = columns_of(d_, from, part->columns());
    part->forward(counted, d, output);
    counted.close_limit = 0.0;  // the first part has counted the close pairs
    if (whole_) part->expand(chunk.atoms, d, columns_of(file_d_, file_from, part->file_columns()));
    from += part->columns();
    file_from += part->file_columns();
  }
  append_parameters(chunk.atoms, whole_ ? file_columns_ : columns_, common_, chunk.rows, chunk.first,
                    chunk.input.aparam, aparam_mean_, aparam_inverse_, x);
  if (watched_) watch(chunk.type, chunk.atoms, x);
  centre.fitting->evaluate(chunk.atoms, x, fit_work_, fitted_, x);
  from = file_from = 0;
  for (const auto& part : parts_) {
    const Matrix<T> dd = columns_of(d_, from, part->columns());
    if (whole_) part->fold_adjoint(chunk.atoms, columns_of(file_d_, file_from, part->file_columns()), dd);
    part->backward(chunk, dd, output);
    from += part->columns();
    file_from += part->file_columns();
  }
}

template <class T>
void TypedEngine<T>::compute_chunk(const Chunk& chunk, EngineOutput& output) {
  const Centre<T>& centre = centres_[chunk.type];
  const int spare = static_cast<int>(common_.extent(0)) + lanes<T>;
  reserve(d_, "deep_potential: descriptor", options_.chunk, columns_ + spare);
  if (whole_) reserve(file_d_, "deep_potential: whole descriptor", options_.chunk, file_columns_ + spare);
  if (fitted_.extent(0) == 0)
    fitted_ = View<double*>("deep_potential: fitted", static_cast<std::size_t>(options_.chunk));
  if (centre.fitted)
    run_parts(chunk, output);
  else
    Kokkos::deep_copy(fitted_, 0.0);
  if (chunk.input.totals || output.atom_energy.extent(0) > 0)
    output.energy += add_energies(chunk.atoms, fitted_, centre.bias, chunk.rows, chunk.first, output.atom_energy);
}

template <class T>
std::size_t TypedEngine<T>::bytes() const {
  std::size_t n = atoms_.rows.size() * sizeof(int) + fit_work_.bytes() + (d_.size() + file_d_.size()) * sizeof(T);
  for (const auto& part : parts_) n += part->bytes();
  for (const auto& centre : centres_)
    if (centre.fitting) n += centre.fitting->bytes();
  return n;
}

}  // namespace

std::unique_ptr<Engine> make_engine(const DeepPotentialModel& model, const EngineOptions& options) {
  const DeepPotentialModel plain = by_species(model);
  if (options.precision == EnginePrecision::mixed) return std::make_unique<TypedEngine<float>>(plain, options);
  return std::make_unique<TypedEngine<double>>(plain, options);
}

}  // namespace cambium::deepmd

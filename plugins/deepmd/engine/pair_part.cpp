// The descriptors se_e2_a and se_e2_r of a chunk of atoms.
#include <algorithm>
#include <optional>

#include "plugins/deepmd/engine/descriptor_part.hpp"
#include "plugins/deepmd/engine/scatter.hpp"
#include "plugins/deepmd/model/contraction.hpp"
#include "plugins/deepmd/model/embedding_net.hpp"
#include "plugins/deepmd/model/padding.hpp"

namespace cambium::deepmd {

NeighborKinds kinds_of(const DeepPotentialModel& m, int type, bool single_cutoffs) {
  const auto nt = static_cast<std::size_t>(m.ntypes()), t = static_cast<std::size_t>(type);
  NeighborKinds kinds;
  kinds.cutoff = CutOff::make(m.rcut_smth, m.rcut, m.env_protection, single_cutoffs);
  kinds.ntypes = m.ntypes();
  kinds.components = m.components();
  kinds.mean = View<double**>("deep_potential: mean", nt, 4);
  kinds.inverse_deviation = View<double**>("deep_potential: scale", nt, 4);
  kinds.hidden = View<char*>("deep_potential: hidden", nt);
  auto mean = Kokkos::create_mirror_view(kinds.mean), inverse = Kokkos::create_mirror_view(kinds.inverse_deviation);
  auto hidden = Kokkos::create_mirror_view(kinds.hidden);
  for (std::size_t j = 0; j < nt; ++j) {
    hidden(j) = m.pair_excluded[t * nt + j];
    for (std::size_t k = 0; k < static_cast<std::size_t>(kinds.components); ++k) {
      mean(j, k) = m.mean[t * nt + j][k];
      inverse(j, k) = 1.0 / m.deviation[t * nt + j][k];
    }
  }
  Kokkos::deep_copy(kinds.mean, mean);
  Kokkos::deep_copy(kinds.inverse_deviation, inverse);
  Kokkos::deep_copy(kinds.hidden, hidden);
  return kinds;
}

template <class T>
void add_pair_forces(const Chunk& chunk, const PairList<T>& pairs, const View<double* [3]>& gradient,
                     EngineOutput& output) {
  scatter_forces(pairs, chunk.rows, chunk.first, gradient, output.f);
  if (chunk.input.totals) add_virial(pairs, gradient, output.virial);
  if (output.atom_virial.extent(0) > 0) scatter_virials(pairs, gradient, output.atom_virial);
}

template void add_pair_forces(const Chunk&, const PairList<double>&, const View<double* [3]>&, EngineOutput&);
template void add_pair_forces(const Chunk&, const PairList<float>&, const View<double* [3]>&, EngineOutput&);

namespace {

template <class T>
class PairPart : public DescriptorPart<T> {
 public:
  PairPart(const DeepPotentialModel& model, const EngineOptions& options);
  int columns() const override { return shape_.columns(); }
  int file_columns() const override { return shape_.file_columns(); }
  void fold(const double* file, std::size_t width, double* ours) const override;
  void expand(int atoms, const Matrix<T>& d, const Matrix<T>& file) const override;
  void fold_adjoint(int atoms, const Matrix<T>& file, const Matrix<T>& dd) const override;
  void forward(const Chunk& chunk, const Matrix<T>& d, EngineOutput& output) override;
  void backward(const Chunk& chunk, const Matrix<T>& dd, EngineOutput& output) override;
  const TableReport* table() const override { return tables_ ? &tables_->report : nullptr; }
  std::size_t bytes() const override;

 private:
  /// Inputs of the kernels for one centre type.
  struct Centre {
    NeighborKinds kinds;
    View<T**> padding;  ///< see contract_pairs()
  };
  void run_networks(int type);
  TableRows<T> table_rows() const { return {tables_->coefficients.data(), tables_->stride()}; }
  NetworkRows<T> network_rows() const { return {embedded_.data(), static_cast<int>(embedded_.extent(1))}; }

  DeepPotentialModel model_;
  DescriptorShape shape_;
  View<int*> slots_;
  std::vector<EmbeddingNet<T>> nets_;
  std::optional<TableSet<T>> tables_;
  std::vector<Centre> centres_;

  PairList<T> pairs_;
  typename EmbeddingNet<T>::Workspace net_work_;
  Matrix<T> embedded_, a_, da_;
  View<double* [3]> gradient_;
};

template <class T>
PairPart<T>::PairPart(const DeepPotentialModel& model, const EngineOptions& options) : model_(model) {
  const bool radial = model_.components() == 1;
  shape_ = {model_.width(), model_.axis_neuron, model_.components(), (radial ? 0.2 : 1.0) / model_.neighbours()};
  slots_ = View<int*>("deep_potential: sel", model_.sel.size());
  auto slots = Kokkos::create_mirror_view(slots_);
  for (std::size_t k = 0; k < model_.sel.size(); ++k) slots(k) = model_.sel[k];
  Kokkos::deep_copy(slots_, slots);
  if (options.compress_tolerance > 0.0)
    tables_ = upload_tables<T>(model_, tabulate_networks(model_, options.compress_tolerance, options.table_r_min));
  else if (!model_.tables.empty())
    tables_ = upload_tables<T>(model_, model_.tables);
  else
    for (const Network& net : model_.embedding) nets_.emplace_back(net);
  for (int t = 0; t < model_.ntypes(); ++t)
    centres_.push_back(
        {kinds_of(model_, t, options.float32_cutoffs),
         tables_ ? padding_of_tables(model_, *tables_, t) : padding_of_networks(model_, nets_, net_work_, t)});
}

/// The file's rows are [channel][axis]; those of D[n][m] and D[m][n] are added.
template <class T>
void PairPart<T>::fold(const double* file, std::size_t width, double* ours) const {
  if (shape_.components == 1) {
    std::copy_n(file, static_cast<std::size_t>(columns()) * width, ours);
    return;
  }
  std::fill_n(ours, static_cast<std::size_t>(columns()) * width, 0.0);
  const int channels = shape_.channels, axis = shape_.axis;
  for (int m = 0; m < channels; ++m)
    for (int n = 0; n < axis; ++n) {
      const double* from = file + static_cast<std::size_t>(m * axis + n) * width;
      double* to = ours + static_cast<std::size_t>(shape_.base(std::min(m, n)) + std::max(m, n)) * width;
      for (std::size_t k = 0; k < width; ++k) to[k] += from[k];
    }
}

template <class T>
void PairPart<T>::expand(int atoms, const Matrix<T>& d, const Matrix<T>& file) const {
  if (shape_.components == 1)
    copy_columns(atoms, columns(), d, file);
  else
    expand_descriptor(atoms, shape_, d, file);
}

template <class T>
void PairPart<T>::fold_adjoint(int atoms, const Matrix<T>& file, const Matrix<T>& dd) const {
  if (shape_.components == 1)
    copy_columns(atoms, columns(), file, dd);
  else
    deepmd::fold_adjoint(atoms, shape_, file, dd);
}

template <class T>
void PairPart<T>::run_networks(int type) {
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
void PairPart<T>::forward(const Chunk& chunk, const Matrix<T>& d, EngineOutput& output) {
  const Centre& centre = centres_[chunk.type];
  const int row = shape_.components * padded<T>(shape_.channels);
  reserve(a_, "deep_potential: a", chunk.atoms, row);
  reserve(da_, "deep_potential: da", chunk.atoms, row);
  pairs_.build(chunk.input.particles, chunk.input.list, chunk.rows, chunk.first, chunk.atoms, chunk.input.model_type,
               centre.kinds, tables_ ? &*tables_ : nullptr, chunk.type, chunk.close_limit);
  output.closest = std::min(output.closest, pairs_.closest);
  output.too_close += pairs_.too_close;
  if (tables_) {
    contract_pairs(pairs_, table_rows(), shape_, centre.padding, slots_, a_);
  } else {
    run_networks(chunk.type);
    contract_pairs(pairs_, network_rows(), shape_, centre.padding, slots_, a_);
  }
  make_descriptor(pairs_.atoms, a_, shape_, d);
}

template <class T>
void PairPart<T>::backward(const Chunk& chunk, const Matrix<T>& dd, EngineOutput& output) {
  const Centre& centre = centres_[chunk.type];
  if (gradient_.extent(0) < static_cast<std::size_t>(pairs_.pairs))
    gradient_ = View<double* [3]>("deep_potential: gradient", static_cast<std::size_t>(pairs_.pairs) * 5 / 4);
  descriptor_adjoint(pairs_.atoms, a_, dd, shape_, da_);
  if (tables_)
    pair_gradients(pairs_, table_rows(), shape_, centre.kinds, da_, gradient_);
  else
    pair_gradients(pairs_, network_rows(), shape_, centre.kinds, da_, gradient_);
  add_pair_forces(chunk, pairs_, gradient_, output);
}

template <class T>
std::size_t PairPart<T>::bytes() const {
  std::size_t n = pairs_.bytes() + gradient_.size() * sizeof(double);
  n += (embedded_.size() + net_work_.rows[0].size() + net_work_.rows[1].size() + net_work_.between.size()) * sizeof(T);
  n += (a_.size() + da_.size()) * sizeof(T);
  return n + (tables_ ? tables_->bytes() : 0);
}

}  // namespace

template <class T>
std::unique_ptr<DescriptorPart<T>> make_pair_part(const DeepPotentialModel& model, const EngineOptions& options) {
  return std::make_unique<PairPart<T>>(model, options);
}

template std::unique_ptr<DescriptorPart<double>> make_pair_part(const DeepPotentialModel&, const EngineOptions&);
template std::unique_ptr<DescriptorPart<float>> make_pair_part(const DeepPotentialModel&, const EngineOptions&);

}  // namespace cambium::deepmd

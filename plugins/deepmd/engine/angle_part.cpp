// The descriptor se_e3 of a chunk of atoms.
#include <algorithm>
#include <optional>

#include "plugins/deepmd/engine/descriptor_part.hpp"
#include "plugins/deepmd/model/angle_list.hpp"
#include "plugins/deepmd/model/contraction.hpp"
#include "plugins/deepmd/model/embedding_net.hpp"

namespace cambium::deepmd {

namespace {

template <class T>
class AnglePart : public DescriptorPart<T> {
 public:
  AnglePart(const DeepPotentialModel& model, const EngineOptions& options);
  int columns() const override { return model_.width(); }
  int file_columns() const override { return model_.width(); }
  int largest_chunk() const override;
  void fold(const double* file, std::size_t width, double* ours) const override {
    std::copy_n(file, static_cast<std::size_t>(columns()) * width, ours);
  }
  void expand(int atoms, const Matrix<T>& d, const Matrix<T>& file) const override {
    copy_columns(atoms, columns(), d, file);
  }
  void fold_adjoint(int atoms, const Matrix<T>& file, const Matrix<T>& dd) const override {
    copy_columns(atoms, columns(), file, dd);
  }
  void forward(const Chunk& chunk, const Matrix<T>& d, EngineOutput& output) override;
  void backward(const Chunk& chunk, const Matrix<T>& dd, EngineOutput& output) override;
  const TableReport* table() const override { return tables_ ? &tables_->report : nullptr; }
  std::size_t bytes() const override;

 private:
  void run_networks();
  TableRows<T> table_rows() const { return {tables_->coefficients.data(), tables_->stride()}; }
  NetworkRows<T> network_rows() const { return {embedded_.data(), static_cast<int>(embedded_.extent(1))}; }

  DeepPotentialModel model_;
  View<double*> inverse_sel_;
  std::vector<EmbeddingNet<T>> nets_;
  std::optional<TableSet<T>> tables_;
  std::vector<NeighborKinds> kinds_;  ///< by centre type

  PairList<T> pairs_;
  AngleList<T> angles_;
  typename EmbeddingNet<T>::Workspace net_work_;
  Matrix<T> embedded_;
  View<double*> along_;
  View<double* [3]> gradient_;
};

template <class T>
AnglePart<T>::AnglePart(const DeepPotentialModel& model, const EngineOptions& options) : model_(model) {
  inverse_sel_ = View<double*>("deep_potential: 1 / sel", model_.sel.size());
  auto inverse = Kokkos::create_mirror_view(inverse_sel_);
  for (std::size_t t = 0; t < model_.sel.size(); ++t) inverse(t) = 1.0 / model_.sel[t];
  Kokkos::deep_copy(inverse_sel_, inverse);
  if (options.compress_tolerance > 0.0)
    tables_ = upload_tables<T>(model_, tabulate_networks(model_, options.compress_tolerance, options.table_r_min));
  else
    for (const Network& net : model_.embedding) nets_.emplace_back(net);
  for (int t = 0; t < model_.ntypes(); ++t) kinds_.push_back(kinds_of(model_, t, options.float32_cutoffs));
}

/// There are many angles: some 900 per atom with 42 neighbours. On the host their network rows should stay in cache.
template <class T>
int AnglePart<T>::largest_chunk() const {
  const double n = model_.neighbours(), angles = 0.5 * n * (n + 1.0);
  const double room = device_is_host ? (tables_ ? 1e5 : 2e4) : 5e6;
  return std::max(1, static_cast<int>(room / angles));
}

template <class T>
void AnglePart<T>::run_networks() {
  reserve(embedded_, "deep_potential: embedded angles", std::max(1, 2 * angles_.angles), columns());
  for (std::size_t net = 0; net < nets_.size(); ++net) {
    const int first = angles_.net_first[net], count = angles_.net_first[net + 1] - first;
    if (count > 0) nets_[net].evaluate(count, angles_.input, first, net_work_, embedded_, 2 * first);
  }
}

template <class T>
void AnglePart<T>::forward(const Chunk& chunk, const Matrix<T>& d, EngineOutput& output) {
  // Without tables even if the model has some: they are tables of angles and not valid for pairs.
  pairs_.build(chunk.input.particles, chunk.input.list, chunk.rows, chunk.first, chunk.atoms, chunk.input.model_type,
               kinds_[chunk.type], nullptr, chunk.type, chunk.close_limit);
  output.closest = std::min(output.closest, pairs_.closest);
  output.too_close += pairs_.too_close;
  angles_.build(pairs_, inverse_sel_, tables_ ? &*tables_ : nullptr);
  if (tables_) {
    contract_angles(pairs_.atoms, angles_, table_rows(), columns(), d);
  } else {
    run_networks();
    contract_angles(pairs_.atoms, angles_, network_rows(), columns(), d);
  }
}

template <class T>
void AnglePart<T>::backward(const Chunk& chunk, const Matrix<T>& dd, EngineOutput& output) {
  const auto pairs = static_cast<std::size_t>(pairs_.pairs), angles = static_cast<std::size_t>(angles_.angles);
  if (gradient_.extent(0) < pairs) gradient_ = View<double* [3]>("deep_potential: gradient", pairs * 5 / 4);
  if (along_.extent(0) < angles) along_ = View<double*>("deep_potential: along angles", angles * 5 / 4);
  const NeighborKinds& kinds = kinds_[chunk.type];
  if (tables_)
    angle_gradients(pairs_, angles_, table_rows(), columns(), kinds, dd, along_, gradient_);
  else
    angle_gradients(pairs_, angles_, network_rows(), columns(), kinds, dd, along_, gradient_);
  add_pair_forces(chunk, pairs_, gradient_, output);
}

template <class T>
std::size_t AnglePart<T>::bytes() const {
  std::size_t n = pairs_.bytes() + angles_.bytes() + (along_.size() + gradient_.size()) * sizeof(double);
  n += (embedded_.size() + net_work_.rows[0].size() + net_work_.rows[1].size() + net_work_.between.size()) * sizeof(T);
  return n + (tables_ ? tables_->bytes() : 0);
}

}  // namespace

template <class T>
std::unique_ptr<DescriptorPart<T>> make_angle_part(const DeepPotentialModel& model, const EngineOptions& options) {
  return std::make_unique<AnglePart<T>>(model, options);
}

template std::unique_ptr<DescriptorPart<double>> make_angle_part(const DeepPotentialModel&, const EngineOptions&);
template std::unique_ptr<DescriptorPart<float>> make_angle_part(const DeepPotentialModel&, const EngineOptions&);

}  // namespace cambium::deepmd

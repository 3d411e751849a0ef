// The descriptor se_atten with attention layers of a chunk of atoms, atom by atom, on the host.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/base/error.hpp"
#include "plugins/deepmd/engine/descriptor_part.hpp"
#include "plugins/deepmd/model/attention.hpp"
#include "plugins/deepmd/model/contraction.hpp"
#include "plugins/deepmd/model/embedding_net.hpp"
#include "plugins/deepmd/model/embedding_rows.hpp"

namespace cambium::deepmd {

namespace {

template <class T>
class AttentionPart : public DescriptorPart<T> {
 public:
  AttentionPart(const DeepPotentialModel& model, const EngineOptions& options);
  int columns() const override { return model_.descriptor_size(); }
  int file_columns() const override { return model_.descriptor_size(); }
  int largest_chunk() const override { return 64; }
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
  void run_networks(int type);
  void attend(int atom, const NeighbourGeometry& geometry);
  void read_embedding(int pair, T* value, T* slope) const;

  DeepPotentialModel model_;
  std::vector<AttentionWeights<T>> weights_;
  std::vector<EmbeddingNet<T>> nets_;
  std::optional<TableSet<T>> tables_;
  std::vector<NeighborKinds> kinds_;  ///< by centre type

  PairList<T> pairs_;
  typename EmbeddingNet<T>::Workspace net_work_;
  Matrix<T> embedded_;
  View<double* [3]> gradient_;
  AttendedAtom<T, 1> atom_;
  std::vector<int> seen_;  ///< pairs of the atom
  std::vector<T> slope_;   ///< of their embeddings, padded(width) values each
  std::vector<T> row_;     ///< an embedding, padded; a row of the descriptor or of its adjoint
};

template <class T>
AttentionPart<T>::AttentionPart(const DeepPotentialModel& model, const EngineOptions& options)
    : model_(model), weights_(AttentionWeights<T>::of(model.attention)),
      atom_(model_.attention, model.width(), model.axis_neuron, model.neighbours()) {
  if (!device_is_host)
    throw InputError(
        fmt::format("{}: se_atten with attention layers (attn_layer: {}) runs on CPUs, and this build is for a GPU",
                    model.source, model.attention.layers()));
  if (options.compress_tolerance > 0.0)
    tables_ = upload_tables<T>(model_, tabulate_networks(model_, options.compress_tolerance, options.table_r_min));
  else
    for (const Network& net : model_.embedding) nets_.emplace_back(net);
  for (int t = 0; t < model_.ntypes(); ++t) kinds_.push_back(kinds_of(model_, t, options.float32_cutoffs));
  row_.resize(static_cast<std::size_t>(std::max(padded<T>(model_.width()), columns())));
}

template <class T>
void AttentionPart<T>::run_networks(int type) {
  int widest = 1;
  for (int t = 0; t < model_.ntypes(); ++t)
    widest = std::max(widest, pairs_.type_first[static_cast<std::size_t>(t) + 1]);
  reserve(embedded_, "deep_potential: embedded", 2 * widest, model_.width());
  for (int t = 0; t < model_.ntypes(); ++t) {
    const int first = pairs_.type_first[t];
    const int count = pairs_.type_first[static_cast<std::size_t>(t) + 1] - first;
    nets_[model_.embedding_index(type, t)].evaluate(count, pairs_.input, first, net_work_, embedded_, 2 * first);
  }
}

/// Embedding of a pair and its slope, in full packs.
template <class T>
void AttentionPart<T>::read_embedding(int pair, T* value, T* slope) const {
  const auto read = [&](const auto& rows) {
    for (int pack = 0; pack < packs<T>(model_.width()); ++pack) {
      Lane<T> v, d;
      rows.both(&pairs_.slot(pair, 0), pairs_.point(pair, 0), pack, v, d);
      v.store(value + pack * lanes<T>);
      (d * Lane<T>(pairs_.point(pair, 1))).store(slope + pack * lanes<T>);
    }
  };
  if (tables_)
    read(TableRows<T>{tables_->coefficients.data(), tables_->stride()});
  else
    read(NetworkRows<T>{embedded_.data(), static_cast<int>(embedded_.extent(1))});
}

template <class T>
void AttentionPart<T>::attend(int atom, const NeighbourGeometry& geometry) {
  seen_.clear();
  for (int p = pairs_.first(atom); p < pairs_.first(atom + 1); ++p)
    if (pairs_.index(p) >= 0) seen_.push_back(p);
  atom_.resize(static_cast<int>(seen_.size()));
  const auto width = static_cast<std::size_t>(model_.width()),
             stride = static_cast<std::size_t>(padded<T>(model_.width()));
  slope_.resize(seen_.size() * stride);
  for (std::size_t n = 0; n < seen_.size(); ++n) {
    const int p = seen_[n];
    const double d[3] = {pairs_.geometry(p, 0), pairs_.geometry(p, 1), pairs_.geometry(p, 2)};
    const auto seen = geometry.seen(d);
    for (std::size_t k = 0; k < 4; ++k) atom_.c.plane[0][4 * n + k] = static_cast<T>(seen.c[k]);
    for (std::size_t k = 0; k < 3; ++k) atom_.u.plane[0][3 * n + k] = static_cast<T>(seen.u[k]);
    atom_.s.plane[0][n] = static_cast<T>(seen.s);
    read_embedding(p, row_.data(), &slope_[n * stride]);
    std::copy_n(row_.begin(), width, atom_.g.plane[0].begin() + static_cast<std::ptrdiff_t>(n * width));
  }
  atom_.forward(weights_);
}

NeighbourGeometry geometry_of(const DeepPotentialModel& m, int type, const CutOff& cutoff) {
  NeighbourGeometry out{cutoff, {}};
  for (std::size_t k = 0; k < 4; ++k) out.inverse_deviation[k] = 1.0 / m.deviation[type * m.ntypes()][k];
  return out;
}

template <class T>
void AttentionPart<T>::forward(const Chunk& chunk, const Matrix<T>& d, EngineOutput& output) {
  const NeighborKinds& kinds = kinds_[chunk.type];
  pairs_.build(chunk.input.particles, chunk.input.list, chunk.rows, chunk.first, chunk.atoms, chunk.input.model_type,
               kinds, tables_ ? &*tables_ : nullptr, chunk.type, chunk.close_limit);
  output.closest = std::min(output.closest, pairs_.closest);
  output.too_close += pairs_.too_close;
  if (!tables_) run_networks(chunk.type);
  const NeighbourGeometry geometry = geometry_of(model_, chunk.type, kinds.cutoff);
  for (int atom = 0; atom < pairs_.atoms; ++atom) {
    attend(atom, geometry);
    atom_.descriptor(false, row_.data());
    for (int k = 0; k < columns(); ++k) d(atom, k) = row_[static_cast<std::size_t>(k)];
  }
}

template <class T>
void AttentionPart<T>::backward(const Chunk& chunk, const Matrix<T>& dd, EngineOutput& output) {
  if (gradient_.extent(0) < static_cast<std::size_t>(pairs_.pairs))
    gradient_ = View<double* [3]>("deep_potential: gradient", static_cast<std::size_t>(pairs_.pairs) * 5 / 4);
  Kokkos::deep_copy(gradient_, 0.0);
  const NeighbourGeometry geometry = geometry_of(model_, chunk.type, kinds_[chunk.type].cutoff);
  const auto width = static_cast<std::size_t>(model_.width()),
             stride = static_cast<std::size_t>(padded<T>(model_.width()));
  for (int atom = 0; atom < pairs_.atoms; ++atom) {
    attend(atom, geometry);
    for (int k = 0; k < columns(); ++k) row_[static_cast<std::size_t>(k)] = dd(atom, k);
    atom_.backward(weights_, false, {row_.data()}, nullptr);
    for (std::size_t n = 0; n < seen_.size(); ++n) {
      const int p = seen_[n];
      const double d[3] = {pairs_.geometry(p, 0), pairs_.geometry(p, 1), pairs_.geometry(p, 2)};
      NeighbourGeometry::Seen bar{};
      T of_input(0);
      for (std::size_t m = 0; m < width; ++m) of_input += atom_.g_bar.plane[0][n * width + m] * slope_[n * stride + m];
      for (std::size_t k = 0; k < 4; ++k) bar.c[k] = static_cast<double>(atom_.c_bar.plane[0][4 * n + k]);
      for (std::size_t k = 0; k < 3; ++k) bar.u[k] = static_cast<double>(atom_.u_bar.plane[0][3 * n + k]);
      bar.c[0] += static_cast<double>(of_input);  // the input is c[0]
      bar.s = static_cast<double>(atom_.s_bar.plane[0][n]);
      const auto g = geometry.gradient(d, bar);
      for (std::size_t k = 0; k < 3; ++k) gradient_(p, static_cast<int>(k)) = g[k];
    }
  }
  add_pair_forces(chunk, pairs_, gradient_, output);
}

template <class T>
std::size_t AttentionPart<T>::bytes() const {
  std::size_t n = pairs_.bytes() + gradient_.size() * sizeof(double);
  n += (embedded_.size() + net_work_.rows[0].size() + net_work_.rows[1].size() + net_work_.between.size() +
        slope_.size()) *
       sizeof(T);
  return n + (tables_ ? tables_->bytes() : 0);
}

}  // namespace

template <class T>
std::unique_ptr<DescriptorPart<T>> make_attention_part(const DeepPotentialModel& model, const EngineOptions& options) {
  return std::make_unique<AttentionPart<T>>(model, options);
}

template std::unique_ptr<DescriptorPart<double>> make_attention_part(const DeepPotentialModel&, const EngineOptions&);
template std::unique_ptr<DescriptorPart<float>> make_attention_part(const DeepPotentialModel&, const EngineOptions&);

}  // namespace cambium::deepmd

#include "core/train/weights/divided/gradient_sum.hpp"

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/timing.hpp"

namespace cambium::train {

GradientSum::GradientSum(DividedParts& parts) : parts_(parts), views_(parts.views()), sums_(parts.groups.size()) {}

/// True if the network writes directly to the stored gradients.
bool GradientSum::in_place() const {
  return parts_.partition.gradients == 0 && parts_.form.kept == parts_.form.real &&
         !(parts_.settings.ordered && slices_ > 1);
}

void GradientSum::begin(int slices) {
  slices_ = slices;
  for (auto& sum : sums_) sum.tree.waiting().clear();  // of an abandoned step
  if (in_place()) std::fill_n(parts_.gradients.data(), parts_.gradients.bytes(), std::byte{0});
}

void GradientSum::next_slice(int slice) {
  slice_ = slice;
  for (auto& g : parts_.groups) {
    sum_of(g).missing = static_cast<int>(g.tensors.size());
    if (g.module < 0) open(g);
  }
  tensor_done_.assign(parts_.layout->tensors().size(), 0);
  next_ = 0;
}

void GradientSum::open(DividedGroup& g) {
  std::byte* data = nullptr;
  if (in_place()) {
    data = parts_.gradients_of(g);
  } else {
    auto& window = sum_of(g).window;
    window = Block(parts_.memory, Held::windows, g.whole.size() * size_of(parts_.form.real));
    data = window.data();
  }
  parts_.place(views_, g, data);
}

void GradientSum::backward(int module) {
  for (auto& g : parts_.groups)
    if (g.module == module) open(g);
}

bool GradientSum::ready(int tensor) {
  if (std::exchange(tensor_done_[tensor], 1)) return false;
  --sums_[parts_.group_of[tensor]].missing;
  const auto before = next_;
  // Groups are sent in the same order on every rank.
  while (next_ < parts_.groups.size() && sums_[next_].missing == 0) group_final(parts_.groups[next_++]);
  return before == next_;
}

void GradientSum::end_slice() {
  if (next_ == parts_.groups.size()) return;
  for (std::size_t k = tensor_done_.size(); k-- > 0;) {
    if (tensor_done_[k] == 0 && parts_.groups[parts_.group_of[k]].module >= 0)
      throw InternalError("a network did not go backward through one of its modules");
    ready(static_cast<int>(k));
  }
}

void GradientSum::advance() {
  if (pending_.group) sum_of(*pending_.group).reduce.advance(false);
  if (parts_.partition.gradients == 0 && parts_.settings.overlap && last_slice())
    for (std::size_t k = 0; k < next_; ++k) sums_[k].reduce.advance(false);
}

/// Converts a window to storage precision.
Block GradientSum::narrowed(Block window, std::int64_t n) const {
  if (parts_.form.kept == parts_.form.real) return window;
  Block kept(parts_.memory, Held::windows, n * size_of(parts_.form.kept));
  const auto* wide = reinterpret_cast<const float*>(window.data());
  auto* narrow = reinterpret_cast<Bf16*>(kept.data());
  for (std::int64_t k = 0; k < n; ++k) narrow[k] = Bf16(wide[k]);
  return kept;
}

/// A slice's gradient of a group is complete on this rank.
void GradientSum::group_final(DividedGroup& g) {
  const bool overlaps = last_slice() && parts_.settings.overlap;
  if (in_place()) {
    if (overlaps) start_reduce(g);
    return;
  }
  Block kept = narrowed(std::move(sum_of(g).window), g.whole.size());
  sum_of(g).window = {};
  parts_.place(views_, g, nullptr);
  if (parts_.partition.gradients > 0) return send_slice(g, std::move(kept));
  accumulate(g, kept.data(), g.whole.size(), slice_);
  if (overlaps) start_reduce(g);
}

/// Sums a slice's gradient over the ranks that shard gradients.
void GradientSum::send_slice(DividedGroup& g, Block kept) {
  if (parts_.by_nodes) return send_node(g, std::move(kept));
  complete_pending();  // at most two gradients in flight
  pending_ = {&g, std::move(kept), slice_};
  const int depth = parts_.partition.gradients;
  if (parts_.partition.codecs.reduces())
    reduce_coded(pending_.kept.data(), g.whole, 0, depth, parts_.form.kept, parts_.partition.codecs.gradients,
                 parts_.exchanges.address(g.number, 0), parts_.wires);
  else
    sum_of(g).reduce.start(pending_.kept.data(), g.whole, 0, depth, parts_.form.kept, parts_.wires, 100 + g.number);
  if (!parts_.settings.overlap) complete_pending();
}

void GradientSum::complete_pending() {
  if (!pending_.group) return;
  const double start = wall_seconds();
  DividedGroup& g = *pending_.group;
  sum_of(g).reduce.advance(true);
  const Interval mine = parts_.share(g, parts_.partition.gradients);
  accumulate(g, pending_.kept.data() + (mine.begin - g.whole.begin) * size_of(parts_.form.kept), mine.size(),
             pending_.slice);
  pending_ = {};
  parts_.exchanges.waited_since(start);
}

/// The same if the sum over ranks is not a node of the tree over slices: each rank adds the slices one by one.
void GradientSum::send_node(DividedGroup& g, Block kept) {
  const double start = wall_seconds();
  NodeRanks ranks = peers(g, 0, parts_.partition.gradients);
  const auto turns = static_cast<std::int64_t>(ranks.peers.size());
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    const std::int64_t number = slice_number(slice_) / turns * turns + turn;
    if (number < parts_.settings.slices) ranks.peers[static_cast<std::size_t>(turn)].nodes = {{0, number}};
  }
  auto& mine = ranks.peers[ranks.me];
  std::vector<std::byte*> own(mine.nodes.size(), kept.data());
  const std::int64_t n = mine.count;
  const std::int64_t sent = exchange_nodes(ranks, own, parts_.memory,
                                           [&](const SliceNode& node, std::byte* part) { add_node(g, node, part, n); });
  const int depth = parts_.partition.gradients;
  if (turns > 1)
    parts_.exchanges.counts().count("reduce-scatter", depth == 1 ? parts_.mesh.levels()[0].name : "all", sent);
  if (last_slice() && depth == std::ssize(parts_.mesh.levels())) take_root(g, n);
  parts_.exchanges.waited_since(start);
}

/// Index of this rank's k-th slice in the batch, as in BatchPlan.
std::int64_t GradientSum::slice_number(int slice) const {
  const std::int64_t turns = parts_of(parts_.mesh, parts_.partition.gradients), rank = parts_.mesh.world().rank();
  return (rank / turns * slices_ + slice) * turns + rank % turns;
}

/// Ranks that differ from this one only in levels [from, to), with the part of share_of(whole, from) that each has in
/// share_of(whole, to). Without nodes.
NodeRanks GradientSum::peers(const DividedGroup& g, int from, int to) const {
  const auto& mesh = parts_.mesh;
  const std::int64_t inner = parts_of(mesh, from), many = parts_of(mesh, to) / inner, rank = mesh.world().rank();
  const std::int64_t first = rank / (inner * many) * inner * many + rank % inner;
  const Interval outer = parts_.share(g, from);
  NodeRanks out{mesh.world().handle(),
                {},
                static_cast<std::size_t>((rank - first) / inner),
                MPI_FLOAT,
                size_of(parts_.form.kept)};
  if (parts_.form.kept != DType::f32) out.type = parts_.form.kept == DType::f64 ? MPI_DOUBLE : MPI_UINT16_T;
  for (std::int64_t k = 0; k < many; ++k) {
    std::int64_t begin = 0, size = outer.size(), left = k;
    for (int level = from; level < to; ++level) {
      const std::int64_t here = mesh.levels()[static_cast<std::size_t>(level)].ranks;
      size /= here;
      begin += size * (left % here);
      left /= here;
    }
    out.peers.push_back({static_cast<int>(first + k * inner), {}, begin, size});
  }
  return out;
}

/// Sums over the levels that do not shard gradients: the remaining nodes on each rank.
void GradientSum::reduce_nodes(DividedGroup& g) {
  const int depth = parts_.partition.gradients, levels = static_cast<int>(parts_.mesh.levels().size());
  NodeRanks ranks = peers(g, depth, levels);
  const std::int64_t turns = parts_of(parts_.mesh, depth), run = turns * slices_, all = parts_.settings.slices;
  for (std::size_t k = 0; k < ranks.peers.size(); ++k) {
    const auto first = static_cast<std::int64_t>(k) * run;
    ranks.peers[k].nodes = nodes_of(std::min(all, first), std::min(all, first + run));
  }
  std::vector<std::byte*> own;
  for (auto& waiting : sum_of(g).tree.waiting()) own.push_back(waiting.sum.data());
  const auto& mine = ranks.peers[ranks.me];
  const std::int64_t n = mine.count;
  with_kept(parts_.form.kept, [&]<class T>() {
    SumTree<T*> sums;
    const auto add = [n](T* into, const T* other) {
      for (std::int64_t k = 0; k < n; ++k) into[k] += other[k];
    };
    T* result = reinterpret_cast<T*>(parts_.gradients_of(g)) + mine.begin;
    const std::int64_t sent = exchange_nodes(ranks, own, parts_.memory, [&](const SliceNode& node, std::byte* part) {
      T* numbers = reinterpret_cast<T*>(part);
      sums.take(
          node, [&](T* into) { add(into, numbers); }, [&] { return numbers; }, add);
      if (node.number + 1 == all >> node.place) std::copy_n(sums.waiting().front().sum, n, result);
    });
    const auto& names = parts_.mesh.levels();
    if (ranks.peers.size() == 1) return;
    parts_.exchanges.counts().count("reduce-scatter",
                                    levels - depth == 1 ? names[static_cast<std::size_t>(depth)].name : "all", sent);
  });
  sum_of(g).tree.waiting().clear();
}

/// Adds a slice's values to the stored gradient; in ordered mode over the tree.
void GradientSum::accumulate(DividedGroup& g, std::byte* values, std::int64_t n, int slice) {
  if (parts_.settings.ordered && slices_ > 1) {
    const std::int64_t number = parts_.by_nodes ? slice_number(slice) : slice;
    if (!parts_.by_nodes || number < parts_.settings.slices) add_node(g, {0, number}, values, n);
    if (!parts_.by_nodes && slice == slices_ - 1) take_root(g, n);
    return;
  }
  with_kept(parts_.form.kept, [&]<class T>() {
    T* x = reinterpret_cast<T*>(values);
    T* sum = reinterpret_cast<T*>(parts_.gradients_of(g));
    if (slice == 0)
      std::copy_n(x, n, sum);
    else
      for (std::int64_t k = 0; k < n; ++k) sum[k] += x[k];
  });
}

void GradientSum::add_node(DividedGroup& g, SliceNode node, const std::byte* values, std::int64_t n) {
  const std::int64_t bytes = n * size_of(parts_.form.kept);
  with_kept(parts_.form.kept, [&]<class T>() {
    const auto add = [n](Block& into, const std::byte* other) {
      T* x = reinterpret_cast<T*>(into.data());
      const T* y = reinterpret_cast<const T*>(other);
      for (std::int64_t k = 0; k < n; ++k) x[k] += y[k];
    };
    const auto keep = [&] {
      Block own(parts_.memory, Held::windows, bytes);
      std::copy_n(values, bytes, own.data());
      return own;
    };
    sum_of(g).tree.take(
        node, [&](Block& into) { add(into, values); }, keep,
        [&](Block& into, Block& other) { add(into, other.data()); });
  });
}

/// Copies the sum of all slices, the only remaining node, to the stored gradients.
void GradientSum::take_root(DividedGroup& g, std::int64_t n) {
  auto& waiting = sum_of(g).tree.waiting();
  std::copy_n(waiting.front().sum.data(), n * size_of(parts_.form.kept), parts_.gradients_of(g));
  waiting.clear();
}

/// Reduces stored gradients over the levels that do not shard gradients.
void GradientSum::start_reduce(DividedGroup& g) {
  const int depth = parts_.partition.gradients, levels = static_cast<int>(parts_.mesh.levels().size());
  if (parts_.partition.codecs.reduces())
    return reduce_coded(parts_.gradients_of(g), g.whole, depth, levels, parts_.form.kept,
                        parts_.partition.codecs.gradients, parts_.exchanges.address(g.number, 0), parts_.wires);
  sum_of(g).reduce.start(parts_.gradients_of(g), g.whole, depth, levels, parts_.form.kept, parts_.wires,
                         1000 + g.number);
}

void GradientSum::finish() {
  const double start = wall_seconds();
  complete_pending();
  const int levels = static_cast<int>(parts_.mesh.levels().size()), steps = parts_.partition.states;
  if (parts_.by_nodes && parts_.partition.gradients < levels)
    for (auto& g : parts_.groups) reduce_nodes(g);
  else if (!parts_.by_nodes && (parts_.partition.gradients > 0 || !parts_.settings.overlap))
    for (auto& g : parts_.groups) start_reduce(g);
  for (auto& sum : sums_) sum.reduce.advance(true);
  for (auto& g : parts_.groups)
    if (steps < levels)
      gather_levels(parts_.stepped_gradients_of(g), g.whole, levels, steps, parts_.form.kept, parts_.wires,
                    "gather gradient");
  parts_.exchanges.waited_since(start);
}

}  // namespace cambium::train

#include <utility>

#include "core/base/error.hpp"
#include "core/base/timing.hpp"
#include "core/train/weights/divided/sharded_model.hpp"

namespace cambium::train {

/// Brings a group's weights together and shows them to the network.
void ShardedModel::open_weights(Group& g, std::string_view what) {
  std::byte* data = nullptr;
  if (weights_direct(g)) {
    data = weights_of(g);
  } else if (g.weights_depth == 0) {
    g.weights_window = Block(memory_, Held::windows, g.whole.size() * size_of(real_));
    data = g.weights_window.data();
    to_real(weights_of(g), g.whole, data);
  } else {
    data = gathered_window(g, what);
  }
  for (int k : g.tensors)
    weight_views_[static_cast<std::size_t>(k)].data =
        data + (layout_->tensors()[static_cast<std::size_t>(k)].offset - g.whole.begin) * size_of(real_);
}

/// Waits for a group's divided weights; in the network's precision.
std::byte* ShardedModel::gathered_window(Group& g, std::string_view what) {
  const double start = wall_seconds();
  if (prefetched_.group != &g) start_gather(g, what);
  prefetched_.gather.advance(true);
  auto together = std::exchange(prefetched_, {}).window;
  exposed_ += wall_seconds() - start;
  if (kept_ == real_ && !packed_) {
    g.weights_window = std::move(together);
  } else {
    g.weights_window = Block(memory_, Held::windows, g.whole.size() * size_of(real_));
    to_real(together.data(), g.whole, g.weights_window.data());
  }
  ++uses_;
  return g.weights_window.data();
}

void ShardedModel::start_gather(Group& g, std::string_view what) {
  prefetched_.gather.advance(true);  // a network that went another way than it said
  prefetched_.group = &g;
  prefetched_.window = Block(memory_, Held::windows, kept_bytes(g.whole));
  std::byte* together = prefetched_.window.data();
  put_kept(weights_of(g), g.whole, g.weights_depth, together);
  if (partition_.codecs.gather != WeightCodec::none)
    gather_window(g, together, what);
  else if (packed_)
    prefetched_.gather.start_packed(
        together, g.whole, g.weights_depth, 0, [this](std::int64_t e) { return packed_->byte_of(e); }, wires_, what);
  else
    prefetched_.gather.start(together, g.whole, g.weights_depth, 0, kept_, wires_, what);
}

/// Begins to gather what is used after this group. The last module of the forward pass is the first one backward: it is
/// gathered anew when its window is free.
void ShardedModel::prefetch_after(const Group& g, bool released) {
  const int n = static_cast<int>(divided_.size());
  const bool turn = uses_ == n, next_slice = uses_ == 2 * n && slice_ + 1 < slices_;
  if (!partition_.prefetch || !overlap_ || g.weights_depth == 0 || prefetched_.group || turn != released) return;
  if (next_slice)
    start_gather(*divided_.front(), "gather forward");
  else if (uses_ < n)
    start_gather(*divided_[static_cast<std::size_t>(uses_)], "gather forward");
  else if (uses_ < 2 * n)
    start_gather(*divided_[static_cast<std::size_t>(2 * n - 1 - uses_)], "gather backward");
}

/// MPI libraries without a progress thread move on only inside their own calls.
void ShardedModel::go_on() {
  if (pending_.group) pending_.group->reduce.advance(false);
  prefetched_.gather.advance(false);
}

/// Whose rounding: `purpose` 0 for gradients, 1 for new weights, 2 for weights on their way to a module.
lowp::RoundingAddress ShardedModel::address_of(const Group& g, int purpose) const {
  auto out = address_;
  out.tensor = static_cast<std::uint64_t>(&g - groups_.data()) * 4 + static_cast<std::uint64_t>(purpose);
  return out;
}

/// A module's weights through coded messages: what every rank computes with is what the message says, also for its own
/// part.
void ShardedModel::gather_window(Group& g, std::byte* together, std::string_view what) {
  std::vector<float> own(static_cast<std::size_t>(share(g, g.weights_depth).size()));
  to_floats(weights_of(g), kept_, own);
  gather_coded(own, g.whole, g.weights_depth, 0, partition_.codecs.gather, address_of(g, 2), wires_, what,
               [&](Interval part, std::span<const float> numbers) {
                 from_floats(numbers, kept_, together + (part.begin - g.whole.begin) * size_of(kept_));
               });
}

void ShardedModel::close_weights(Group& g) {
  g.weights_window = {};
  if (weights_direct(g)) return;
  for (int k : g.tensors) weight_views_[static_cast<std::size_t>(k)].data = nullptr;
}

void ShardedModel::open_gradients(Group& g) {
  std::byte* data = nullptr;
  if (gradients_direct()) {
    data = gradients_of(g);
  } else {
    g.gradients_window = Block(memory_, Held::windows, g.whole.size() * size_of(real_));
    data = g.gradients_window.data();
  }
  for (int k : g.tensors)
    gradient_views_[static_cast<std::size_t>(k)].data =
        data + (layout_->tensors()[static_cast<std::size_t>(k)].offset - g.whole.begin) * size_of(real_);
}

void ShardedModel::forward(int module) {
  go_on();
  for (auto& g : groups_)
    if (g.module == module) {
      open_weights(g, "gather forward");
      prefetch_after(g, false);
    }
}

void ShardedModel::backward(int module) {
  go_on();
  for (auto& g : groups_)
    if (g.module == module) {
      open_weights(g, "gather backward");
      prefetch_after(g, false);
      open_gradients(g);
    }
}

void ShardedModel::release(int module) {
  go_on();
  for (auto& g : groups_)
    if (g.module == module) {
      close_weights(g);
      prefetch_after(g, true);
    }
}

void ShardedModel::tensor_ready(int tensor) {
  if (std::exchange(tensor_done_[static_cast<std::size_t>(tensor)], 1)) return;
  --groups_[static_cast<std::size_t>(group_of_[static_cast<std::size_t>(tensor)])].missing;
  const auto before = next_;
  next_groups();
  if (before != next_) return;
  go_on();
  if (partition_.gradients == 0 && overlap_ && slice_ == slices_ - 1)
    for (std::size_t k = 0; k < next_; ++k) groups_[k].reduce.advance(false);
}

/// Groups are sent in one order on every rank.
void ShardedModel::next_groups() {
  while (next_ < groups_.size() && groups_[next_].missing == 0) group_final(groups_[next_++]);
}

/// A slice's gradient of a group is complete on this rank.
void ShardedModel::group_final(Group& g) {
  const bool last = slice_ == slices_ - 1;
  const std::int64_t n = g.whole.size();
  if (gradients_direct()) {
    if (last && overlap_) start_reduce(g);
    return;
  }
  Block kept;
  if (kept_ == real_) {
    kept = std::move(g.gradients_window);
  } else {
    kept = Block(memory_, Held::windows, n * size_of(kept_));
    const auto* wide = reinterpret_cast<const float*>(g.gradients_window.data());
    auto* narrow = reinterpret_cast<Bf16*>(kept.data());
    for (std::int64_t k = 0; k < n; ++k) narrow[k] = Bf16(wide[k]);
  }
  g.gradients_window = {};
  for (int k : g.tensors) gradient_views_[static_cast<std::size_t>(k)].data = nullptr;
  if (partition_.gradients == 0) {
    accumulate(g, kept.data(), n, slice_);
    if (last && overlap_) start_reduce(g);
    return;
  }
  complete_pending();  // two gradients in flight at most
  pending_ = {&g, std::move(kept), slice_};
  if (partition_.codecs.reduces())
    reduce_coded(pending_.kept.data(), g.whole, 0, partition_.gradients, kept_, partition_.codecs.gradients,
                 address_of(g, 0), wires_);
  else
    g.reduce.start(pending_.kept.data(), g.whole, 0, partition_.gradients, kept_, wires_,
                   100 + static_cast<int>(&g - groups_.data()));
  if (!overlap_) complete_pending();
}

void ShardedModel::complete_pending() {
  if (!pending_.group) return;
  const double start = wall_seconds();
  Group& g = *pending_.group;
  g.reduce.advance(true);
  const Interval mine = share(g, partition_.gradients);
  accumulate(g, pending_.kept.data() + (mine.begin - g.whole.begin) * size_of(kept_), mine.size(), pending_.slice);
  pending_ = {};
  exposed_ += wall_seconds() - start;
}

/// Adds a slice's numbers to what is kept; in ordered mode as one adds 1 to a binary number: two sums of equal size
/// carry.
void ShardedModel::accumulate(Group& g, std::byte* values, std::int64_t n, int slice) {
  with_kept(kept_, [&]<class T>() {
    T* x = reinterpret_cast<T*>(values);
    T* sum = reinterpret_cast<T*>(gradients_of(g));
    if (!ordered_ || slices_ == 1) {
      if (slice == 0)
        std::copy_n(x, n, sum);
      else
        for (std::int64_t k = 0; k < n; ++k) sum[k] += x[k];
      return;
    }
    std::size_t place = 0;
    for (; (1 << place) < slices_; ++place) {
      if (g.sums.size() <= place) g.sums.emplace_back(memory_, Held::windows, n * size_of(kept_)), g.full.push_back(0);
      if (!g.full[place]) break;
      T* earlier = reinterpret_cast<T*>(g.sums[place].data());
      for (std::int64_t k = 0; k < n; ++k) x[k] = earlier[k] += x[k];
      g.full[place] = 0;
    }
    if ((1 << place) == slices_) {
      std::copy_n(x, n, sum);
      g.sums.clear(), g.full.clear();
    } else {
      std::copy_n(x, n, reinterpret_cast<T*>(g.sums[place].data()));
      g.full[place] = 1;
    }
  });
}

/// Sums what is kept over the levels that gradients are not divided over.
void ShardedModel::start_reduce(Group& g) {
  const int levels = static_cast<int>(mesh_.levels().size());
  if (partition_.codecs.reduces())
    return reduce_coded(gradients_of(g), g.whole, partition_.gradients, levels, kept_, partition_.codecs.gradients,
                        address_of(g, 0), wires_);
  g.reduce.start(gradients_of(g), g.whole, partition_.gradients, levels, kept_, wires_,
                 1000 + static_cast<int>(&g - groups_.data()));
}

/// What the others send and ask for while they compute, in their order.
void ShardedModel::take_part_without_samples() {
  const int modules = static_cast<int>(module_first_.size()) - 1;
  for (int m = 0; m < modules; ++m) forward(m), release(m);
  for (int m = modules - 1; m >= 0; --m) {
    backward(m);
    for (int k = module_first_[static_cast<std::size_t>(m) + 1] - 1; k >= module_first_[static_cast<std::size_t>(m)];
         --k)
      tensor_ready(k);
    release(m);
  }
}

void ShardedModel::finish() {
  const double start = wall_seconds();
  complete_pending();
  const int levels = static_cast<int>(mesh_.levels().size());
  if (partition_.gradients > 0 || !overlap_)
    for (auto& g : groups_) start_reduce(g);
  for (auto& g : groups_) g.reduce.advance(true);
  for (auto& g : groups_)
    if (partition_.states < levels)
      gather_levels(gradients_shard(g), g.whole, levels, partition_.states, kept_, wires_, "gather gradient");
  exposed_ += wall_seconds() - start;
}

void ShardedModel::sum(int slices, const SliceWork& compute) {
  slices_ = slices;
  if (gradients_direct()) std::fill_n(gradients_.data(), gradients_.bytes(), std::byte{0});
  const ReadyCallback ready([this](int tensor) { tensor_ready(tensor); }, [this](int m) { forward(m); },
                            [this](int m) { backward(m); }, [this](int m) { release(m); });
  for (auto& g : groups_)
    if (g.module < 0) open_weights(g, "gather forward");
  for (slice_ = 0; slice_ < slices; ++slice_) {
    for (auto& g : groups_) {
      g.missing = static_cast<int>(g.tensors.size());
      if (g.module < 0) open_gradients(g);
    }
    tensor_done_.assign(layout_->tensors().size(), 0);
    next_ = uses_ = 0;
    if (!compute(slice_, weight_views_, gradient_views_, ready)) take_part_without_samples();
    if (next_ < groups_.size())  // a network need not announce what it has no modules for
      for (std::size_t k = tensor_done_.size(); k-- > 0;) {
        if (tensor_done_[k] == 0 && groups_[static_cast<std::size_t>(group_of_[k])].module >= 0)
          throw InternalError("a network did not go backward through one of its modules");
        tensor_ready(static_cast<int>(k));
      }
  }
  slice_ = slices - 1;
  for (auto& g : groups_)
    if (g.module < 0) close_weights(g);
  finish();
}

}  // namespace cambium::train

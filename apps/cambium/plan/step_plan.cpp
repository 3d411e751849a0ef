#include "apps/cambium/plan/step_plan.hpp"

#include <algorithm>
#include <bit>

#include "core/lowp/message.hpp"
#include "core/train/reduce/slice_tree.hpp"
#include "core/train/weights/divided/grouping.hpp"

namespace cambium::train {

std::int64_t PlannedModel::count() const {
  std::int64_t sum = 0;
  for (const auto& info : parameters) {
    std::int64_t elements = 1;
    for (auto extent : info.shape) elements *= extent;
    sum += elements;
  }
  return sum;
}

namespace {

std::int64_t state_bytes(const PlannedModel& model) {
  std::int64_t bytes = 0;
  for (const auto& info : model.states) bytes += size_of(info.dtype);
  return bytes;
}

bool splits(const PlannedModel& model) {
  return std::any_of(model.states.begin(), model.states.end(), [](const auto& s) { return s.name == "low_bits"; });
}

void add(StepPlan& plan, Exchange exchange) {
  if (exchange.ranks == 1 || exchange.calls == 0) return;
  for (auto& row : plan.exchanges)
    if (row.collective == exchange.collective && row.level == exchange.level && row.ranks == exchange.ranks &&
        row.stride == exchange.stride) {
      row.calls += exchange.calls;
      row.bytes += exchange.bytes;
      row.sent += exchange.sent;
      row.coded += exchange.coded;
      return;
    }
  plan.exchanges.push_back(std::move(exchange));
}

/// Ordered mode on a number of ranks that is not a power of two.
bool sends_nodes(const StepSettings& settings) {
  return settings.reduce.mode == ReduceParams::Mode::ordered &&
         !std::has_single_bit(static_cast<std::uint64_t>(settings.ranks));
}

/// Slices of a rank in ordered mode.
std::int64_t own_slices(const StepSettings& settings) {
  return (settings.reduce.slices + settings.ranks - 1) / settings.ranks;
}

/// Nodes of the tree over slices that the k-th of `runs` ranks sends.
std::int64_t nodes_sent(const StepSettings& settings, std::int64_t k, std::int64_t runs) {
  const std::int64_t all = settings.reduce.slices, run = own_slices(settings) * settings.ranks / runs;
  return std::ssize(nodes_of(std::min(all, k * run), std::min(all, (k + 1) * run)));
}

/// Plan of a step with sharded weights (DividedWeights, core/train/weights/divided).
class Divided {
 public:
  Divided(const PlannedModel& model, const StepSettings& settings, const WireBits& bits)
      : model_(model), settings_(settings), part_(*settings.partition), bits_(bits) {
    for (const auto& level : part_.levels) parts_.push_back(parts_.back() * level.ranks);
    kept_ = splits(model) && !model.modules.empty() ? 2 : size_of(model.dtype);
    overlap_ = settings.reduce.overlap && !part_.codecs.any() && !sends_nodes(settings);
  }

  StepPlan plan() {
    const bool ordered = settings_.reduce.mode == ReduceParams::Mode::ordered;
    out_.slices = ordered ? own_slices(settings_) : settings_.accumulate;
    const auto grouping = group_tensors(
        model_.parameters, model_.modules, part_.whole_below,
        std::max<std::int64_t>(1, static_cast<std::int64_t>(settings_.reduce.group) / size_of(model_.dtype)));
    const FlatLayout layout =
        part_.codecs.any()
            ? FlatLayout(model_.parameters, grouping.tensors, lowp::wire_piece * settings_.ranks, lowp::wire_piece)
            : FlatLayout(model_.parameters, grouping.tensors, group_padding(settings_.ranks));
    std::int64_t largest = 0;
    for (std::size_t g = 0; g < layout.groups().size(); ++g) {
      const std::int64_t n = layout.groups()[g].elements();
      add_group(n, grouping.modules[g]);
      if (grouping.modules[g] >= 0)
        largest = std::max(largest, n);
      else
        small_ += n;
    }
    // One module's weights and gradient, one gradient and its parts in flight, in the network's and the stored
    // precision, and the prefetched weights; sums of slices in ordered mode are added to that.
    const std::int64_t real = size_of(model_.dtype);
    out_.in_use = (largest + small_) * (2 * real + (kept_ == real ? 2 : 4) * kept_);
    out_.prefetch = part_.weights > 0 && part_.prefetch && overlap_;
    if (out_.prefetch) out_.in_use += largest * kept_;
    if (part_.codecs.any())
      out_.in_use += (largest + small_) * 3 * 4;  // in float32, and messages that are sent and received
    out_.update_bytes = out_.own_elements * (2 * kept_ + kept_ + 2 * states());
    return std::move(out_);
  }

 private:
  std::int64_t states() const {
    return state_bytes(model_) + (part_.codecs.update != WeightCodec::none ? size_of(model_.dtype) : 0);
  }
  /// n elements gathered over levels [to, from), the outermost first.
  void gather(const char* what, std::int64_t n, int from, int to, std::int64_t calls, Phase phase, double bits,
              WeightCodec codec = WeightCodec::none) {
    const std::int64_t part = n / parts_[from], message = message_bytes(codec, part);
    for (int level = from - 1; level >= to; --level) {
      const auto l = static_cast<std::size_t>(level);
      const std::int64_t ranks = part_.levels[l].ranks, own = n / parts_[l + 1];
      double bytes =
          static_cast<double>(calls * own * (ranks - 1)) * (bits > 0.0 ? bits / 8.0 : static_cast<double>(kept_));
      if (codec != WeightCodec::none) bytes = static_cast<double>(calls * (own / part) * message * (ranks - 1));
      // All parts are decoded when they are together.
      const std::int64_t coded = codec == WeightCodec::none || level > to ? 0 : calls * (part + n / parts_[to]);
      add(out_,
          {what, part_.levels[l].name, phase, Pattern::ring_or_tree, calls, bytes, bytes, ranks, parts_[l], coded});
    }
  }
  void reduce(std::int64_t n, int from, int to, std::int64_t calls, Phase phase) {
    for (int level = from; level < to; ++level) {
      const auto l = static_cast<std::size_t>(level);
      const std::int64_t ranks = part_.levels[l].ranks, part = n / parts_[l + 1];
      const double bits = l < bits_.gradients.size() ? bits_.gradients[l] : 0.0;
      double bytes =
          static_cast<double>(calls * part * (ranks - 1)) * (bits > 0.0 ? bits / 8.0 : static_cast<double>(kept_));
      const bool codes = part_.codecs.reduces();
      if (codes)
        bytes = static_cast<double>(calls * lowp::message_bytes(part_.codecs.gradients[l], part) * (ranks - 1));
      const std::int64_t coded =
          codes && part_.codecs.gradients[l] != lowp::WireCodec::none ? 2 * calls * part * (ranks - 1) : 0;
      add(out_,
          {"reduce-scatter", part_.levels[l].name, phase, bits_.reduce, calls, bytes, bytes, ranks, parts_[l], coded});
    }
  }
  /// Slices, or nodes of the tree over them, that go from each of the ranks in levels [from, to) to all others of
  /// these.
  void exchange_nodes(std::int64_t n, int from, int to, std::int64_t calls, std::int64_t nodes) {
    const std::int64_t ranks = parts_[to] / parts_[from], part = n / parts_[to];
    const auto bytes = static_cast<double>(nodes * part * (ranks - 1) * kept_);
    const auto l = static_cast<std::size_t>(from);
    add(out_, {"reduce-scatter", to - from == 1 ? part_.levels[l].name : "all", Phase::after, Pattern::direct, calls,
               bytes, bytes, ranks, parts_[l]});
  }
  /// The most of any rank.
  void reduce_nodes(std::int64_t n) {
    const int levels = static_cast<int>(part_.levels.size());
    const std::int64_t runs = settings_.ranks / parts_[part_.gradients];
    if (part_.gradients > 0) exchange_nodes(n, 0, part_.gradients, out_.slices, out_.slices);
    std::int64_t most = 0;
    for (std::int64_t k = 0; k < runs; ++k) most = std::max(most, nodes_sent(settings_, k, runs));
    if (part_.gradients < levels) exchange_nodes(n, part_.gradients, levels, 1, most);
  }
  void add_group(std::int64_t n, int module) {
    const int levels = static_cast<int>(part_.levels.size()), weights = module < 0 ? 0 : part_.weights;
    const auto depth = [&](int d) { return parts_[d]; };
    out_.weights += n / depth(weights) * kept_;
    out_.gradients += n / depth(part_.gradients) * kept_;
    out_.states += n / depth(part_.states) * states();
    out_.own_elements += n / depth(part_.states);
    gather("gather forward", n, weights, 0, out_.slices, Phase::forward, bits_.weights, part_.codecs.gather);
    gather("gather backward", n, weights, 0, out_.slices, Phase::backward, bits_.weights, part_.codecs.gather);
    const Phase overlapped = overlap_ ? Phase::reduce : Phase::after;
    if (sends_nodes(settings_)) {
      reduce_nodes(n);
    } else {
      reduce(n, 0, part_.gradients, out_.slices, overlapped);
      reduce(n, part_.gradients, levels, 1, part_.gradients == 0 ? overlapped : Phase::after);
    }
    gather("gather gradient", n, levels, part_.states, 1, Phase::after, 0.0);
    gather("gather update", n, part_.states, weights, 1, Phase::after, bits_.update, part_.codecs.update);
  }

  const PlannedModel& model_;
  const StepSettings& settings_;
  const Partition& part_;
  const WireBits& bits_;
  std::vector<std::int64_t> parts_{1};  ///< ranks in the first k levels
  std::int64_t kept_ = 4, small_ = 0;   ///< B of a kept number
  bool overlap_ = true;
  StepPlan out_;
};

/// Plan with replicated gradients (core/train/reduce).
StepPlan plan_whole(const PlannedModel& model, const StepSettings& settings) {
  using Mode = ReduceParams::Mode;
  StepPlan plan;
  const std::int64_t real = size_of(model.dtype), ranks = settings.ranks;
  const FlatLayout layout = layout_of(settings.reduce, model.parameters, model.dtype);
  const std::int64_t bytes = layout.size() * real;
  plan.weights = plan.gradients = bytes;
  plan.states = layout.size() * state_bytes(model);
  plan.own_elements = layout.size();
  plan.update_bytes = layout.size() * (3 * real + 2 * state_bytes(model));
  const double share = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  if (settings.reduce.mode == Mode::ordered) {
    plan.slices = own_slices(settings);
    if (sends_nodes(settings)) {
      double most = 0.0, handed = 0.0;
      for (std::int64_t k = 0; k < ranks; ++k) {
        const std::int64_t own = layout.size() * (k + 1) / ranks - layout.size() * k / ranks;
        most = std::max(most, static_cast<double>(nodes_sent(settings, k, ranks) * (layout.size() - own) * real));
        handed = std::max(handed, static_cast<double>(own * (ranks - 1) * real));
      }
      add(plan, {"reduce-scatter", "world", Phase::after, Pattern::direct, 1, most, most, ranks, 1});
      add(plan, {"all-gather", "world", Phase::after, Pattern::ring_or_tree, 1, handed, handed, ranks, 1});
      return plan;
    }
    std::int64_t held = layout.size();
    for (std::int64_t distance = 1; distance < ranks; distance *= 2, held /= 2) {
      const auto give = static_cast<double>(held / 2 * real);
      plan.exchanges.push_back({"halving", "world", Phase::after, Pattern::direct, 1, give, give, 2, distance});
      plan.exchanges.push_back({"doubling", "world", Phase::after, Pattern::direct, 1, give, give, 2, distance});
    }
    return plan;
  }
  plan.slices = settings.accumulate;
  if (settings.reduce.codec != lowp::WireCodec::none) {
    const std::int64_t piece = lowp::wire_piece, pieces = (layout.size() + piece - 1) / piece;
    const auto sent = static_cast<double>(
        lowp::message_bytes(settings.reduce.codec, (pieces + ranks - 1) / ranks * piece) * (ranks - 1));
    add(plan, {"reduce-scatter", "world", Phase::after, Pattern::direct, 1, sent, sent, ranks, 1, 2 * layout.size()});
    add(plan, {"all-gather", "world", Phase::after, Pattern::ring_or_tree, 1, sent, sent, ranks, 1, layout.size()});
    return plan;
  }
  add(plan, {"allreduce", "world", settings.reduce.overlap ? Phase::reduce : Phase::after, Pattern::ring_or_tree,
             static_cast<std::int64_t>(layout.groups().size()), static_cast<double>(bytes),
             2.0 * share * static_cast<double>(bytes), ranks, 1});
  return plan;
}

}  // namespace

StepPlan plan_step(const PlannedModel& model, const StepSettings& settings, const WireBits& bits) {
  StepPlan plan = settings.partition ? Divided(model, settings, bits).plan() : plan_whole(model, settings);
  const bool ordered = settings.reduce.mode == ReduceParams::Mode::ordered;
  const std::int64_t rows =
      (ordered ? own_slices(settings) : static_cast<std::int64_t>(settings.accumulate)) * settings.ranks;
  const auto table = static_cast<double>(rows * model.terms * static_cast<std::int64_t>(sizeof(TermSum)));
  if (table > 0.0)
    add(plan, {"allreduce", "terms", Phase::after, Pattern::ring_or_tree, 1, table, 2.0 * table, settings.ranks, 1});
  return plan;
}

}  // namespace cambium::train

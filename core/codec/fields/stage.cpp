#include "core/codec/fields/stage.hpp"

#include <algorithm>
#include <type_traits>

#include "core/base/pack.hpp"

namespace cambium::lowp {
namespace {

constexpr int lanes = ScaledField::lanes;

/// Weights of all groups in the layout of the product: [group][source][row][lanes], each row padded with zeros.
struct Table {
  std::vector<float> weights;
  std::vector<float> constants;  ///< by group
  std::size_t per_group = 0;

  Table(const EnhancerStage& stage, std::span<const ScaledField> scaled) {
    const int length = scaled[0].row_length(), rows = static_cast<int>(scaled[0].rows().size());
    per_group = scaled.size() * static_cast<std::size_t>(rows * lanes);
    weights.assign(per_group * stage.linear.size(), 0.0f);
    float* out = weights.data();
    for (const auto& group : stage.linear) {
      if (group.weights.size() != scaled.size() * static_cast<std::size_t>(scaled[0].taps())) throw DamagedStream{};
      constants.push_back(group.scale * static_cast<float>(group.weights[scaled[0].middle()]));
      const std::int8_t* in = group.weights.data();
      for (std::size_t source = 0; source < scaled.size(); ++source)
        for (int row = 0; row < rows; ++row, out += lanes)
          for (int k = 0; k < length; ++k) out[k] = group.scale * static_cast<float>(*in++);
    }
  }
};

using Row = Pack<float, lanes>;

/// Sum of weights times differences of one source, lane by lane; the middle's difference is zero.
void add_source(const float* x, const std::vector<std::int64_t>& rows, const float* w, Row& sum) {
  const Row middle(*x);
  for (const auto row : rows) {
    sum += Row::load(w) * (Row::load(x + row) - middle);
    w += lanes;
  }
}

float in_pairs(const Row& sum) {
  float s[lanes];
  sum.store(s);
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

}  // namespace

void EnhancerStage::put(ByteWriter& out) const {
  out.put<std::uint8_t>(static_cast<std::uint8_t>(reach));
  out.put<std::uint8_t>(static_cast<std::uint8_t>(groups()));
  out.put<std::uint8_t>(hidden.empty() ? 0 : 1);
  out.put(std::span<const float>(edges));
  out.put<std::uint16_t>(static_cast<std::uint16_t>(linear[0].weights.size()));
  for (const auto& group : linear) {
    out.put(group.scale);
    out.put(std::span<const std::int8_t>(group.weights));
  }
  for (const auto& layer : hidden) layer.put(out);
}

EnhancerStage EnhancerStage::from(ByteReader& in) {
  EnhancerStage s;
  s.reach = in.get<std::uint8_t>();
  const int groups = in.get<std::uint8_t>();
  const bool network = in.get<std::uint8_t>() != 0;
  if (s.reach < 1 || s.reach > 2 || groups < 1 || groups > most_groups) throw DamagedStream{};
  for (int k = 1; k < groups; ++k) s.edges.push_back(in.get<float>());
  const std::size_t taps = in.get<std::uint16_t>();
  for (int g = 0; g < groups; ++g) {
    s.linear.push_back({in.get<float>(), {}});
    const auto bytes = in.next(taps);
    for (auto byte : bytes) s.linear.back().weights.push_back(static_cast<std::int8_t>(byte));
  }
  for (int g = 0; network && g < groups; ++g) s.hidden.push_back(HiddenLayer::from(in));
  return s;
}

std::vector<float> EnhancerStage::corrections(std::span<const std::uint8_t> groups, const FieldShape& shape,
                                              std::span<const ScaledField> scaled) const {
  const Table table(*this, scaled);
  const auto nearest = hidden.empty() ? std::vector<std::int64_t>{} : nearest_taps(scaled[0]);
  for (const auto& layer : hidden)
    if (layer.taps() != static_cast<int>(nearest.size())) throw DamagedStream{};
  std::vector<float> out(shape.elements);
  const std::size_t per_source = scaled[0].rows().size() * lanes;
  scaled[0].for_each_row(shape, [&](std::int64_t first, const auto& index, std::int64_t n) {
    const float* places[4] = {};
    for (std::size_t s = 0; s < scaled.size(); ++s) places[s] = scaled[s].at(index);
    for (std::int64_t k = 0; k < n; ++k) {
      const std::size_t g = groups[first + k];
      Row sum(0.0f);
      for (std::size_t s = 0; s < scaled.size(); ++s)
        add_source(places[s] + k, scaled[s].rows(), table.weights.data() + g * table.per_group + s * per_source, sum);
      float r = in_pairs(sum) + table.constants[g];
      if (!hidden.empty()) r += hidden[g](places[0] + k, nearest);
      out[first + k] = r;
    }
  });
  return out;
}

template <class T>
std::vector<std::uint8_t> groups_of(std::span<const T> field, std::span<const float> edges) {
  std::vector<std::uint8_t> out(field.size());
  constexpr std::size_t block = 32;  // counts of a block stay in registers while all edges pass
  using Count = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  for (std::size_t first = 0; first < field.size(); first += block) {
    T values[block] = {};
    Count counts[block] = {};
    const std::size_t n = std::min(block, field.size() - first);
    std::copy_n(field.data() + first, n, values);
    for (const T edge : edges)
      for (std::size_t k = 0; k < block; ++k) counts[k] += values[k] >= edge;
    for (std::size_t k = 0; k < n; ++k) out[first + k] = static_cast<std::uint8_t>(counts[k]);
  }
  return out;
}

template std::vector<std::uint8_t> groups_of(std::span<const float>, std::span<const float>);
template std::vector<std::uint8_t> groups_of(std::span<const double>, std::span<const float>);

}  // namespace cambium::lowp

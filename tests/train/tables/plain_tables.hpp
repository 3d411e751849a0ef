#pragma once
// Tables held whole by one rank, added and changed by plain loops: what divided ones are compared with.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "core/parallel/random.hpp"
#include "core/train/kinds/tables.hpp"
#include "core/train/tables/row_rule.hpp"

namespace cambium::train::testing {

/// A made step: for every slice of the global batch, by table, the bags of its samples, and gradients of their sums.
struct MadeStep {
  static constexpr int slices = 8;
  std::uint64_t step;
  std::vector<TableInfo> infos;

  double random(std::uint64_t what, int slice, int table, std::int64_t at) const {
    return Random4(17, Stream::test, step * 1000 + static_cast<std::uint64_t>(slice * 100 + table),
                   what << 40 | static_cast<std::uint64_t>(at))
        .uniform(0);
  }
  std::int64_t samples(int slice) const { return slice == 5 ? 0 : 1 + slice % 3; }
  Bags bags(int slice, int table) const {
    Bags out;
    const double rows = static_cast<double>(infos[table].rows);
    for (std::int64_t b = 0; b < samples(slice); ++b) {
      const auto length = static_cast<std::int64_t>(4.0 * random(1, slice, table, b));
      std::vector<std::int32_t> ids;
      for (std::int64_t k = 0; k < length; ++k) {
        const double u = random(2, slice, table, b * 10 + k);
        ids.push_back(static_cast<std::int32_t>(u * u * rows));
      }
      out.add(ids);
    }
    return out;
  }
  double gradient(int slice, int table, std::int64_t element) const { return random(3, slice, table, element) - 0.5; }
};

template <class T>
struct PlainTables {
  std::vector<TableInfo> infos;
  TableKeys keys;
  std::vector<std::vector<T>> rows, states;

  PlainTables(std::vector<TableInfo> tables, TableKeys k, std::vector<std::vector<T>> first)
      : infos(std::move(tables)), keys(k), rows(std::move(first)) {
    for (const auto& info : infos)
      states.emplace_back(static_cast<std::size_t>(info.rows * state_width(keys.optimizer, info.width)), T(0));
  }
  std::vector<T> pooled(const Bags& bags, std::size_t t) const {
    const auto width = static_cast<std::size_t>(infos[t].width);
    std::vector<T> out(static_cast<std::size_t>(bags.size()) * width, T(0));
    for (std::size_t b = 0; b + 1 < bags.first.size(); ++b)
      for (auto k = bags.first[b]; k < bags.first[b + 1]; ++k)
        for (std::size_t j = 0; j < width; ++j)
          out[b * width + j] += rows[t][static_cast<std::size_t>(bags.ids[k]) * width + j];
    return out;
  }
  void step(const MadeStep& made, double factor, double rate) {
    for (std::size_t t = 0; t < infos.size(); ++t) {
      const auto width = infos[t].width;
      std::map<std::int64_t, std::vector<T>> sums;
      for (int s = 0; s < MadeStep::slices; ++s) {
        const Bags bags = made.bags(s, static_cast<int>(t));
        for (std::size_t b = 0; b + 1 < bags.first.size(); ++b)
          for (auto k = bags.first[b]; k < bags.first[b + 1]; ++k) {
            auto& sum = sums[bags.ids[k]];
            sum.resize(width, T(0));
            for (std::int64_t j = 0; j < width; ++j)
              sum[j] += static_cast<T>(made.gradient(s, static_cast<int>(t), static_cast<std::int64_t>(b) * width + j));
          }
      }
      for (auto& [row, sum] : sums) {
        for (auto& value : sum) value *= static_cast<T>(factor);
        update_row<T>(keys, rate * keys.rate, width, sum.data(), rows[t].data() + row * width,
                      states[t].data() + row * state_width(keys.optimizer, width));
      }
    }
  }
};

}  // namespace cambium::train::testing

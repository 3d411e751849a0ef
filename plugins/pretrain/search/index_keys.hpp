#pragma once
#include <optional>

#include "core/deck/describe.hpp"
#include "plugins/pretrain/search/index_file.hpp"

namespace cambium::pretrain {

/// How entries are looked for.
struct IndexKeys {
  enum class Type { exact, approximate };
  Type type = Type::approximate;
  double recall = 0.99;
  std::int64_t lists = 0;  ///< 0: InvertedLists::usual_lists()
  static void describe(deck::Describe<IndexKeys>& d);
};

/// Result, and the index that found it, where there is one.
struct Answered {
  Entries entries;
  std::optional<StatedIndex> index;
};

/// Collective: the `count` rows of the archive most similar to each query. An approximate index is judged by the
/// queries, or where there are fewer than 40 by rows of the archive that look for others.
Answered answer(FloatRows archive, const FloatRows& queries, std::int64_t count, const IndexKeys& keys,
                const Comm& comm);

/// Collective: the same by an index that is there already.
Entries answer(const StatedIndex& index, const FloatRows& queries, std::int64_t count, const Comm& comm);

}  // namespace cambium::pretrain

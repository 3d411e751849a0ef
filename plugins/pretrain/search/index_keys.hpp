#pragma once
#include <optional>

#include "core/deck/describe.hpp"
#include "plugins/pretrain/search/index_file.hpp"

namespace cambium::pretrain {

/// Parameters of the search.
struct IndexKeys {
  enum class Type { exact, approximate };
  Type type = Type::approximate;
  double recall = 0.99;
  std::int64_t lists = 0;  ///< 0: InvertedLists::usual_lists()
  static void describe(deck::Describe<IndexKeys>& d);
};

/// Result, and the index used, if there is one.
struct Answered {
  Entries entries;
  std::optional<StatedIndex> index;
};

/// Collective: the `count` rows of the archive most similar to each query. The recall of an approximate index is
/// measured on the queries, or, for fewer than 40, on rows of the archive.
Answered answer(FloatRows archive, const FloatRows& queries, std::int64_t count, const IndexKeys& keys,
                const Comm& comm);

/// Collective: the same with an existing index.
Entries answer(const StatedIndex& index, const FloatRows& queries, std::int64_t count, const Comm& comm);

}  // namespace cambium::pretrain

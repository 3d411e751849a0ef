#include "plugins/pretrain/search/index_keys.hpp"

#include <algorithm>

namespace cambium::pretrain {

void IndexKeys::describe(deck::Describe<IndexKeys>& d) {
  d("type", &IndexKeys::type, "every entry is compared, or those in the lists nearest to a query")
      .options({{"exact", Type::exact}, {"approximate", Type::approximate}})
      .def(Type::approximate);
  d("recall", &IndexKeys::recall,
    "target recall: fraction of the exact nearest neighbours that an approximate index finds")
      .greater_than(0.0)
      .at_most(1.0)
      .def(0.99);
  d("n_lists", &IndexKeys::lists,
    "number of inverted lists (clusters); 0: number of entries over 256, but two to four times its square root")
      .formerly("lists")
      .at_least(0)
      .def(0);
}

Entries answer(const StatedIndex& index, const FloatRows& queries, std::int64_t count, const Comm& comm) {
  Effort effort = index.stated.effort;
  if (count > index.stated.count) effort.kept = effort.kept * count / std::max<std::int64_t>(1, index.stated.count);
  return over_ranks(queries.rows, count, comm, [&](std::int64_t from, std::int64_t to) {
    return index.lists.nearest(queries, from, to, count, effort);
  });
}

Answered answer(FloatRows archive, const FloatRows& queries, std::int64_t count, const IndexKeys& keys,
                const Comm& comm) {
  if (keys.type == IndexKeys::Type::exact)
    return {over_ranks(
                queries.rows, count, comm,
                [&](std::int64_t from, std::int64_t to) { return exactly_nearest(archive, queries, from, to, count); }),
            std::nullopt};
  constexpr std::int64_t enough_to_judge = 40;
  InvertedLists lists(std::move(archive), keys.lists, comm);
  const auto stated = queries.rows >= enough_to_judge ? stated_recall(lists, queries, count, keys.recall, comm)
                                                      : stated_recall_by_own_rows(lists, count, keys.recall, comm);
  Answered out{{}, StatedIndex{std::move(lists), stated}};
  out.entries = answer(*out.index, queries, count, comm);
  return out;
}

}  // namespace cambium::pretrain

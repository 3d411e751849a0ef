#include "core/train/tables/table_keys.hpp"

namespace cambium::train {

void RowCodeKeys::describe(deck::Describe<RowCodeKeys>& d) {
  d("bound", &RowCodeKeys::bound, "no number of a row changes by more; of the most sensitive tables where they differ")
      .positive()
      .def(1e-2);
  d("by", &RowCodeKeys::by,
    "same: one bound; homogenisation: 1, 3 or 5 bounds for a table, the less the more of its rows become equal by "
    "the first")
      .options({{"same", By::same}, {"homogenisation", By::homogenisation}})
      .def(By::same);
  d("start", &RowCodeKeys::start, "bounds of the first step over those of step number `steps`, between which they fall")
      .at_least(1.0)
      .def(1.0);
  d("steps", &RowCodeKeys::steps, "how long bounds fall").positive().def(1000);
}

void TableKeys::describe(deck::Describe<TableKeys>& d) {
  d("divide", &TableKeys::divide,
    "what a rank holds: every so many-th row of each table, or some of the tables, by size; whole tables send one sum "
    "for each bag, rows one row for each of its members")
      .options({{"rows", Divide::rows}, {"whole", Divide::whole}})
      .def(Divide::rows);
  d("deduplicate", &TableKeys::deduplicate,
    "a row that a rank needs several times in a step travels once, and its gradients are added before they travel")
      .def(false);
  d("code", &TableKeys::code, "rows that a step fetches are coded within bounds; gradients travel as they are")
      .example("{bound: 0.01}");
  d("optimizer", &TableKeys::optimizer,
    "how the rows that a step touched change: sgd; adagrad; adam with one mean square for a row; or split_sgd, where "
    "the "
    "network sees bfloat16 rows, the lower halves of whose float32 numbers are kept beside them")
      .options({{"sgd", Rule::sgd}, {"adagrad", Rule::adagrad}, {"adam", Rule::adam}, {"split_sgd", Rule::split_sgd}})
      .def(Rule::adagrad);
  d("rate", &TableKeys::rate, "learning rate of the tables over that of the network").positive().def(1.0);
  d("decay", &TableKeys::decay,
    "rows that a step touches first shrink by this times their learning rate, so that rows seen rarely stay as small "
    "as "
    "those seen often")
      .non_negative()
      .def(0.0);
  d("epsilon", &TableKeys::epsilon, "added to the root of the squares, of adagrad and adam").positive().def(1e-8);
  d("beta1", &TableKeys::beta1, "memory of the mean gradient, of adam").range(0.0, 0.999999).def(0.9);
  d("beta2", &TableKeys::beta2, "memory of the mean squared gradient, of adam").range(0.0, 0.999999).def(0.999);
}

}  // namespace cambium::train

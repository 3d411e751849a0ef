#include "core/train/tables/table_keys.hpp"

namespace cambium::train {

void TableKeys::describe(deck::Describe<TableKeys>& d) {
  d("divide", &TableKeys::divide,
    "what a rank holds: every so many-th row of each table, or some of the tables, by size; whole tables send one sum "
    "for each bag, rows one row for each of its members")
      .options({{"rows", Divide::rows}, {"whole", Divide::whole}})
      .def(Divide::rows);
  d("deduplicate", &TableKeys::deduplicate,
    "a row that a rank needs several times in a step travels once, and its gradients are added before they travel")
      .def(false);
  d("optimizer", &TableKeys::optimizer,
    "how the rows that a step touched change: sgd; adagrad; adam with one mean square for a row; or split_sgd, where "
    "the "
    "network sees bfloat16 rows, the lower halves of whose float32 numbers are kept beside them")
      .options({{"sgd", Rule::sgd}, {"adagrad", Rule::adagrad}, {"adam", Rule::adam}, {"split_sgd", Rule::split_sgd}})
      .def(Rule::adagrad);
  d("rate", &TableKeys::rate, "learning rate of the tables over that of the network").positive().def(1.0);
  d("epsilon", &TableKeys::epsilon, "added to the root of the squares, of adagrad and adam").positive().def(1e-8);
  d("beta1", &TableKeys::beta1, "memory of the mean gradient, of adam").range(0.0, 0.999999).def(0.9);
  d("beta2", &TableKeys::beta2, "memory of the mean squared gradient, of adam").range(0.0, 0.999999).def(0.999);
}

}  // namespace cambium::train

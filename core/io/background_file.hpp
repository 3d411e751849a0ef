#pragma once
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace cambium::io {

/// Brings one file after the other to the disk by a thread of its own, while the program goes on. The thread touches
/// neither HDF5 nor MPI: it gets finished bytes. For one rank; not to be shared by threads.
class BackgroundFile {
 public:
  BackgroundFile() = default;
  ~BackgroundFile();  ///< waits; what went wrong then is lost
  BackgroundFile(const BackgroundFile&) = delete;
  BackgroundFile& operator=(const BackgroundFile&) = delete;

  /// Waits for the file before, then begins this one: `allowed` may throw InputError, `bytes` become the file `path`
  /// complete or not at all, `after` follows. Both are called by the thread. InputError of the file before.
  void write(std::string path, std::vector<char> bytes, std::function<void()> allowed, std::function<void()> after);
  /// Until the file is on the disk. InputError when it could not be written; said once.
  void wait();

 private:
  std::thread thread_;
  std::exception_ptr failed_;
};

}  // namespace cambium::io

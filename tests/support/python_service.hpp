// A service in Python that a test talks to: it prints its address and serves until it is killed.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "tests/support/end_with_parent.hpp"

namespace muster::testing {

class PythonService {
 public:
  explicit PythonService(const std::string& script, const std::vector<std::string>& arguments = {},
                         std::vector<std::string> environment = {}) {
    std::vector<std::string> words{"/usr/bin/python3", script};
    words.insert(words.end(), arguments.begin(), arguments.end());
    environment.emplace_back("PYTHONDONTWRITEBYTECODE=1");
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    auto argv = pointers(words), variables = pointers(environment);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) {
      end_with_parent(parent);
      ::dup2(ends[1], STDOUT_FILENO);
      ::execve(argv[0], argv.data(), variables.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    url_ = first_line(ends[0]);
    ::close(ends[0]);
    if (url_.empty()) {
      end();
      throw std::runtime_error(script + " did not say where it serves");
    }
  }
  ~PythonService() { end(); }
  PythonService(const PythonService&) = delete;
  PythonService& operator=(const PythonService&) = delete;

  const std::string& url() const { return url_; }

 private:
  static std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> all;
    for (std::string& word : words) all.push_back(word.data());
    all.push_back(nullptr);
    return all;
  }

  static std::string first_line(int from) {
    constexpr int patience_milliseconds = 30'000;
    std::string line;
    pollfd waiting{from, POLLIN, 0};
    for (char c = 0; ::poll(&waiting, 1, patience_milliseconds) > 0 && ::read(from, &c, 1) == 1;) {
      if (c == '\n') return line;
      line += c;
    }
    return {};
  }

  void end() const {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  pid_t pid_ = -1;
  std::string url_;
};

}  // namespace muster::testing

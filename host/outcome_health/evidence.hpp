// The arithmetic of the test: Wald's sequential probability ratio test of one subject against the
// others of its pool, at the same time. Pure functions of numbers.
//
// The score is the logarithm of how much more likely the subject's outcomes are if it has the
// minimal effect than if it is as the others are. It begins at 0. At ln(subjects / falseAlarm) the
// subject is accused: by Ville's inequality a healthy one gets there with a probability of
// falseAlarm / subjects at most, whenever one looks. At ln(missed) it is called healthy, and the
// next test begins at 0.
#pragma once

#include <cstdint>
#include <string>

#include "host/outcome_health/decayed_counts.hpp"
#include "host/outcome_health/settings.hpp"

namespace muster::outcome_health {

// How likely a task is to fail on the others: the upper end of what their slow counts allow
// (Wilson, two standard deviations), or what their fast counts say if that is more.
double baseline(const Counts& slow, const Counts& fast);

// How likely a task is to fail on a subject with the minimal effect.
double expected_of_faulty(double baseline, const Settings& settings);

// What one outcome adds to the score.
double score_of(bool failed, double baseline, const Settings& settings);

double accused_at(std::size_t subjects, const Settings& settings);
double healthy_at(const Settings& settings);

// So many failures in a row accuse a subject.
std::int64_t failures_needed(double baseline, std::size_t subjects, const Settings& settings);

// The ends of what the counts allow (Wilson), with so many standard deviations.
double upper_end(const Counts& counts, double deviations);
double lower_end(const Counts& counts, double deviations);

// "4 %", "0.5 %"
std::string percent(double share);

}  // namespace muster::outcome_health

/* Several hosts, one database, one provider: lease, epoch, intent and takeover, checked exhaustively.
 *
 * Proven: no commit by a superseded leader, no provider call that begins after another host took the lead, at most one
 * instance for each intent. Every step may be followed by a pause of any length, so a host that is stopped between a
 * check and its call, or whose answer is late, is among what is looked at. Mutations, by -D: NO_EPOCH_CHECK,
 * LEASE_BY_WALL_CLOCK, RELY_FROM_ANSWER, KEY_OF_EPOCH. Each of them must fail; run_model.sh sees to it.
 */
#define HOSTS 2
#define LENGTH 4
#define MARGIN 1
#define END 10

byte now = 1;          /* as the database's clock and clocks that nobody sets count it */
byte set_back[HOSTS];  /* by how much somebody has set a host's wall clock back */

byte epoch_of_row = 0, expires = 0; /* the row of the leader */
byte intent = 0;                    /* 0: none, 1: a launch is intended, 2: its instance is known */
byte intent_epoch = 0;

byte instances = 0; /* at the provider */
bool key_seen[8];

#ifdef LEASE_BY_WALL_CLOCK
#define CLOCK (now - set_back[me])
#else
#define CLOCK now
#endif

#ifdef KEY_OF_EPOCH
#define KEY epoch
#else
#define KEY intent_epoch
#endif

inline grant_until() {
#ifdef RELY_FROM_ANSWER
  relied = CLOCK + LENGTH;
#else
  relied = asked + LENGTH - MARGIN;
#endif
}

/* One transaction: the epoch is checked in it. */
inline commit(becomes) {
  atomic {
    if
#ifdef NO_EPOCH_CHECK
    :: true ->
#else
    :: epoch_of_row == epoch ->
#endif
       assert(epoch_of_row == epoch); /* no commit by a superseded leader */
       intent = becomes;
       if
       :: becomes == 1 -> intent_epoch = epoch
       :: else
       fi
    :: else -> epoch = 0
    fi
  }
}

proctype Host(byte me) {
  byte epoch = 0, asked = 0, relied = 0;
  bool granted = false;
  do
  :: now >= END -> break
  :: epoch == 0 && now < END && expires <= now ->
     asked = CLOCK;
     atomic {
       if
       :: expires <= now -> epoch_of_row++; expires = now + LENGTH; epoch = epoch_of_row
       :: else
       fi
     }
     if
     :: epoch > 0 -> grant_until()
     :: else
     fi
  :: epoch > 0 && now < END && CLOCK < relied ->
     asked = CLOCK;
     atomic {
       granted = (epoch_of_row == epoch);
       if
       :: granted -> expires = now + LENGTH
       :: else
       fi
     }
     if
     :: granted -> grant_until()
     :: else -> epoch = 0
     fi
  :: epoch > 0 && now < END && CLOCK < relied && intent == 0 ->
     commit(1)
  :: epoch > 0 && now < END && intent == 1 ->
     atomic {
       if
       :: CLOCK < relied -> assert(epoch_of_row == epoch) /* no call begins after another took over */
       :: else -> epoch = 0
       fi
     }
     if
     :: epoch > 0 ->
        atomic { /* the call arrives, however late */
          if
          :: !key_seen[KEY] -> key_seen[KEY] = true; instances++
          :: else
          fi;
          assert(instances <= 1)
        }
        commit(2)
     :: else
     fi
  :: epoch > 0 && now < END && CLOCK >= relied -> epoch = 0
  od
}

proctype Time() {
  do
  :: now < END -> now++
  :: now >= END -> break
  od
}

#ifdef LEASE_BY_WALL_CLOCK
proctype Somebody() {
  if
  :: now > 3 -> set_back[0] = 3
  :: now >= END
  fi
}
#endif

init {
  atomic {
    run Host(0);
    run Host(1);
    run Time();
#ifdef LEASE_BY_WALL_CLOCK
    run Somebody()
#endif
  }
}

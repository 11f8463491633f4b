CREATE TABLE system ( name text PRIMARY KEY, value text );

CREATE TABLE permission ( username text, action text, UNIQUE (username,action) );

CREATE TABLE auth_cookie ( cookie text, name text, ipnr text, time integer, UNIQUE (cookie,ipnr,name) );

CREATE TABLE session ( sid text, authenticated integer, last_visit integer, UNIQUE (sid,authenticated) );

CREATE TABLE session_attribute ( sid text, authenticated integer, name text, value text, UNIQUE (sid,authenticated,name) );

CREATE TABLE cache ( id integer PRIMARY KEY, generation integer, key text );

CREATE TABLE attachment ( type text, id text, filename text, size integer, time integer, description text, author text, UNIQUE (type,id,filename) );

CREATE TABLE wiki ( name text, version integer, time integer, author text, text text, comment text, readonly integer, UNIQUE (name,version) );

CREATE TABLE repository ( id integer, name text, value text, UNIQUE (id,name) );

CREATE TABLE revision ( repos integer, rev text, time integer, author text, message text, UNIQUE (repos,rev) );

CREATE TABLE node_change ( id integer PRIMARY KEY, repos integer, rev text, path text, node_type text, change_type text, base_path text, base_rev text );

CREATE TABLE ticket ( id integer PRIMARY KEY, type text, time integer, changetime integer, component text, severity text, priority text, owner text, reporter text, cc text, version text, milestone text, status text, resolution text, summary text, description text, keywords text );

CREATE TABLE ticket_change ( ticket integer, time integer, author text, field text, oldvalue text, newvalue text, UNIQUE (ticket,time,field) );

CREATE TABLE ticket_custom ( ticket integer, name text, value text, UNIQUE (ticket,name) );

CREATE TABLE enum ( type text, name text, value text, description text, UNIQUE (type,name) );

CREATE TABLE component ( name text PRIMARY KEY, owner text, description text );

CREATE TABLE milestone ( name text PRIMARY KEY, due integer, completed integer, description text );

CREATE TABLE version ( name text PRIMARY KEY, time integer, description text );

CREATE TABLE report ( id integer PRIMARY KEY, author text, title text, query text, description text );

CREATE TABLE notify_subscription ( id integer PRIMARY KEY, time integer, changetime integer, class text, sid text, authenticated integer, distributor text, format text, priority integer, adverb text );

CREATE TABLE notify_watch ( id integer PRIMARY KEY, sid text, authenticated integer, class text, realm text, target text );

CREATE INDEX session_last_visit_idx ON session (last_visit);

CREATE INDEX session_authenticated_idx ON session (authenticated);

CREATE INDEX wiki_time_idx ON wiki (time);

CREATE INDEX revision_repos_time_idx ON revision (repos,time);

CREATE INDEX node_change_repos_rev_path_idx ON node_change (repos,rev,path);

CREATE INDEX node_change_repos_path_rev_idx ON node_change (repos,path,rev);

CREATE INDEX ticket_time_idx ON ticket (time);

CREATE INDEX ticket_status_idx ON ticket (status);

CREATE INDEX ticket_change_ticket_idx ON ticket_change (ticket);

CREATE INDEX ticket_change_time_idx ON ticket_change (time);

CREATE INDEX notify_subscription_sid_authenticated_idx ON notify_subscription (sid,authenticated);

CREATE INDEX notify_subscription_class_idx ON notify_subscription (class);

CREATE INDEX notify_watch_sid_authenticated_class_idx ON notify_watch (sid,authenticated,class);

CREATE INDEX notify_watch_class_realm_target_idx ON notify_watch (class,realm,target);

INSERT INTO "system" VALUES
('日本0','1e3'),
('a1','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'),
('  padded 2',NULL),
('1e33',NULL),
('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx4','7'),
('ä5','50%'),
('null6','Zürich'),
('null7',NULL),
('1e38','line'||char(10)||'break'),
('79',NULL),
('A10',''),
('true11',NULL);

INSERT INTO "permission" VALUES
('50%0','true0'),
('1e31','line'||char(10)||'break1'),
('its2','true2'),
('its3','  padded 3'),
('its4','its4'),
('a5','null5'),
('50%6','null6'),
('a,b7','a,b7'),
('日本8','  padded 8'),
('  padded 9','2024-02-209'),
('a,b10','  padded 10'),
('ä11','ä11');

INSERT INTO "auth_cookie" VALUES
('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx0','null0','line'||char(10)||'break0',1770000000000000),
('Zürich1','A1','line'||char(10)||'break1',1770000000000001),
('null2','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx2','1e32',-3),
('日本3','its3','line'||char(10)||'break3',9007199254740996),
('ä4','true4','50%4',7),
('  padded 5','75','ä5',0),
('0076','a6','a6',0),
('77','ä7','a,b7',1770000000000007),
('50%8','a8','2024-02-208',NULL),
('日本9','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx9','A9',1),
('  padded 10','710','null10',NULL),
('ä11','its11','00711',2);

INSERT INTO "session" VALUES
('2024-02-200',0,0),
('  padded 1',1,NULL),
('its2',2,NULL),
('0073',3,0),
('1e34',4,1),
('ä5',5,5),
('a6',6,5),
('its7',7,NULL),
('0078',8,5),
('9',9,NULL),
('710',10,NULL),
('00711',11,NULL);

INSERT INTO "session_attribute" VALUES
('a0',0,'0070',NULL),
('50%1',1,'50%1','2024-02-20'),
('  padded 2',2,'1e32',NULL),
('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx3',3,'line'||char(10)||'break3',NULL),
('A4',4,'2024-02-204','50%'),
('Zürich5',5,'ä5','A'),
('  padded 6',6,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx6','its'),
('Zürich7',7,'50%7','7'),
('a,b8',8,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx8','1e3'),
('true9',9,'79','its'),
('a,b10',10,'ä10','日本'),
('Zürich11',11,'50%11','null');

INSERT INTO "cache" VALUES
(1,44100,'line'||char(10)||'break'),
(2,0,'2024-02-20'),
(3,3,'2024-02-20'),
(4,44100,'Zürich'),
(5,1,'A'),
(6,NULL,NULL),
(7,1,'a,b'),
(8,NULL,'its'),
(9,NULL,NULL),
(10,44100,'007'),
(11,NULL,'Zürich'),
(12,NULL,'1e3');

INSERT INTO "attachment" VALUES
('2024-02-200','0','日本0',NULL,NULL,'007','日本'),
('2024-02-201','true1','50%1',5,0,'  padded ','line'||char(10)||'break'),
('line'||char(10)||'break2','2024-02-202','true2',NULL,1,'1e3',NULL),
('null3','A3','line'||char(10)||'break3',3,0,NULL,'  padded '),
('a4','  padded 4','its4',NULL,1,'line'||char(10)||'break','日本'),
('line'||char(10)||'break5','true5','75',3,9007199254740998,'its',NULL),
('a6','6','a6',5,2,'2024-02-20','50%'),
('Zürich7','2024-02-207','its7',2,0,'1e3','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'),
('0078','日本8','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx8',1,9007199254741001,NULL,'50%'),
('line'||char(10)||'break9','a9','line'||char(10)||'break9',2,7,'  padded ',NULL),
('  padded 10','its10','710',1,NULL,'a,b','Zürich'),
('2024-02-2011','711','A11',NULL,NULL,NULL,'its');

INSERT INTO "wiki" VALUES
('日本0',0,NULL,'ä','true','7',1),
('a1',1,0,'日本','null','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',3),
('  padded 2',2,7,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','50%','',NULL),
('its3',3,0,'ä',NULL,'its',5),
('line'||char(10)||'break4',4,-3,NULL,'2024-02-20','a',NULL),
('0075',5,-3,NULL,'Zürich','7',1),
('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx6',6,NULL,'null','',NULL,44100),
('Zürich7',7,1770000000000007,'Zürich','50%','null',44100),
('a,b8',8,1,'50%','7','true',3),
('ä9',9,1,NULL,'50%','7',1),
('ä10',10,NULL,'7','7',NULL,1),
('1e311',11,9007199254741004,'  padded ','its','a,b',44100);

INSERT INTO "repository" VALUES
(0,'a,b0','50%'),
(1,'0071',''),
(2,'its2','a,b'),
(3,'Zürich3',NULL),
(4,'0074','true'),
(5,'5','  padded '),
(6,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx6',NULL),
(7,'Zürich7','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'),
(8,'  padded 8','  padded '),
(9,'2024-02-209',NULL),
(10,'Zürich10','  padded '),
(11,'null11','');

INSERT INTO "revision" VALUES
(0,'a,b0',7,NULL,'Zürich'),
(1,'Zürich1',-3,'null','null'),
(2,'A2',1770000000000002,'line'||char(10)||'break','日本'),
(3,'3',9007199254740996,NULL,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'),
(4,'  padded 4',7,'  padded ',''),
(5,'2024-02-205',1770000000000005,'A','null'),
(6,'null6',0,NULL,'A'),
(7,'50%7',9007199254741000,'7','1e3'),
(8,'  padded 8',NULL,'a,b','A'),
(9,'true9',-3,'line'||char(10)||'break','ä'),
(10,'710',NULL,'007','Zürich'),
(11,'2024-02-2011',1,'its',NULL);

INSERT INTO "node_change" VALUES
(1,NULL,'1e3','2024-02-20','007','A','A',NULL),
(2,5,NULL,NULL,'','line'||char(10)||'break','a','a'),
(3,0,NULL,NULL,'1e3','A','  padded ','true'),
(4,2,NULL,'50%',NULL,'line'||char(10)||'break',NULL,'a,b'),
(5,3,'null','ä','a,b','Zürich','true','日本'),
(6,44100,'2024-02-20','a,b','null','','7','日本'),
(7,1,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','1e3','  padded ','A','1e3','its'),
(8,5,'007','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',NULL,NULL,'line'||char(10)||'break',NULL),
(9,2,'a,b','a,b',NULL,'its','a','日本'),
(10,1,'null',NULL,NULL,'1e3','null','日本'),
(11,5,'7','007','A','日本','Zürich','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'),
(12,2,NULL,'its',NULL,'  padded ','A','007');

INSERT INTO "ticket" VALUES
(1,'line'||char(10)||'break',9007199254740993,9007199254740993,'a,b','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','ä','A','  padded ','  padded ','ä',NULL,'1e3',NULL,'2024-02-20','ä','日本'),
(2,NULL,-3,0,NULL,'a','a,b',NULL,'日本',NULL,'line'||char(10)||'break','7','ä',NULL,'true','null','50%'),
(3,'its',-3,NULL,NULL,'a,b','a','50%','true','  padded ',NULL,'A','its','A','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','日本',NULL),
(4,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',1770000000000003,2,'50%','50%','50%','its','7','007','Zürich','its','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','1e3','7','7',''),
(5,'007',1,NULL,NULL,'007',NULL,'a,b','a,b',NULL,'its','null','2024-02-20','A','a','日本','a,b'),
(6,NULL,7,NULL,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',NULL,'true','2024-02-20','','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','line'||char(10)||'break','a,b','a,b','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','Zürich',NULL),
(7,'2024-02-20',9007199254740999,-3,'Zürich','its','true','a','A',NULL,'2024-02-20','7','50%','line'||char(10)||'break','','true','its'),
(8,NULL,1,NULL,'a',NULL,'true',NULL,'null','  padded ','','50%',NULL,NULL,'a','7','50%'),
(9,'true',1770000000000008,1770000000000008,'7','its','7','its','','  padded ',NULL,'A','a,b','true','null','true','日本'),
(10,NULL,0,9007199254741002,'line'||char(10)||'break',NULL,'50%',NULL,'50%','true',NULL,'null','Zürich','日本',NULL,'true',NULL),
(11,'1e3',1,-3,'','  padded ','ä',NULL,'','Zürich','007','line'||char(10)||'break','日本','ä',NULL,'A','A'),
(12,'007',9007199254741004,1770000000000011,'2024-02-20','日本','','line'||char(10)||'break','null',NULL,'7','true','true','null','日本','true',NULL);

INSERT INTO "ticket_change" VALUES
(0,0,'2024-02-20','0','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','1e3'),
(1,1,'日本','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx1','ä','line'||char(10)||'break'),
(2,2,'line'||char(10)||'break','line'||char(10)||'break2','50%','ä'),
(3,3,'日本','2024-02-203','a','007'),
(4,4,'2024-02-20','line'||char(10)||'break4',NULL,'2024-02-20'),
(5,5,'50%','  padded 5','50%','null'),
(6,6,NULL,'  padded 6','true',NULL),
(7,7,'null','77','1e3',NULL),
(8,8,'its','50%8','50%','line'||char(10)||'break'),
(9,9,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','9','a','1e3'),
(10,10,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','10','Zürich','ä'),
(11,11,'  padded ','1e311','7','1e3');

INSERT INTO "ticket_custom" VALUES
(0,'A0','  padded '),
(1,'0071','1e3'),
(2,'0072','true'),
(3,'1e33','50%'),
(4,'null4','007'),
(5,'75','a,b'),
(6,'0076','7'),
(7,'日本7',''),
(8,'line'||char(10)||'break8','true'),
(9,'line'||char(10)||'break9','007'),
(10,'its10','A'),
(11,'2024-02-2011','a,b');

INSERT INTO "enum" VALUES
('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx0','a,b0','line'||char(10)||'break','ä'),
('Zürich1','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx1','line'||char(10)||'break','line'||char(10)||'break'),
('2024-02-202','ä2','true',NULL),
('ä3','true3','7','a,b'),
('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx4','0074','','7'),
('2024-02-205','0075','ä',NULL),
('its6','a6','Zürich','A'),
('1e37','77','1e3','ä'),
('2024-02-208','null8','Zürich','a'),
('ä9','ä9','Zürich','a,b'),
('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx10','ä10','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','its'),
('1e311','日本11','its','2024-02-20');

INSERT INTO "component" VALUES
('  padded 0','','a'),
('a1',NULL,'2024-02-20'),
('Zürich2','1e3','日本'),
('null3','007','A'),
('2024-02-204','1e3','  padded '),
('Zürich5','its','A'),
('a6','Zürich',''),
('its7',NULL,'line'||char(10)||'break'),
('78','50%','a'),
('a9','null','  padded '),
('1e310','Zürich',NULL),
('true11','2024-02-20','7');

INSERT INTO "milestone" VALUES
('日本0',NULL,NULL,'A'),
('71',5,3,'a'),
('its2',0,3,'ä'),
('a3',NULL,2,'2024-02-20'),
('a,b4',1,3,'7'),
('a5',5,2,'null'),
('a6',1,44100,'Zürich'),
('1e37',3,5,'  padded '),
('a8',1,5,NULL),
('日本9',3,44100,'a,b'),
('  padded 10',3,44100,'1e3'),
('ä11',0,NULL,'Zürich');

INSERT INTO "version" VALUES
('2024-02-200',1,'its'),
('50%1',-3,''),
('a,b2',NULL,'its'),
('50%3',1,'true'),
('Zürich4',1,'7'),
('ä5',7,'line'||char(10)||'break'),
('2024-02-206',7,'its'),
('Zürich7',-3,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'),
('0078',-3,NULL),
('  padded 9',NULL,NULL),
('a10',1,'50%'),
('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx11',1770000000000011,NULL);

INSERT INTO "report" VALUES
(1,'line'||char(10)||'break','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','A',NULL),
(2,'a','2024-02-20','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','true'),
(3,'007','a','1e3','a'),
(4,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','true','ä','1e3'),
(5,'A','null','1e3','007'),
(6,'',NULL,NULL,'1e3'),
(7,'a,b','true','true','its'),
(8,'','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',NULL,'50%'),
(9,'null','Zürich',NULL,'日本'),
(10,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','line'||char(10)||'break','  padded ','Zürich'),
(11,'true',NULL,'its','a'),
(12,'2024-02-20',NULL,'50%',NULL);

INSERT INTO "notify_subscription" VALUES
(1,7,7,'1e3','A',1,'null','1e3',2,'Zürich'),
(2,1,7,'007','true',NULL,'7','A',3,'7'),
(3,2,7,'007','7',0,'its','2024-02-20',3,NULL),
(4,NULL,1770000000000003,'  padded ','1e3',0,'true','ä',1,'null'),
(5,NULL,0,'1e3','ä',0,'日本','007',1,NULL),
(6,NULL,1770000000000005,'50%',NULL,1,'a,b','2024-02-20',0,''),
(7,NULL,-3,'50%','2024-02-20',2,NULL,'Zürich',1,NULL),
(8,0,1770000000000007,'1e3','A',2,'Zürich','2024-02-20',NULL,'line'||char(10)||'break'),
(9,-3,0,NULL,'日本',0,'line'||char(10)||'break','',44100,'A'),
(10,2,2,'1e3','日本',44100,'a,b','true',NULL,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'),
(11,1770000000000010,0,'true','7',2,'a,b','日本',0,'50%'),
(12,-3,2,NULL,'1e3',0,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','line'||char(10)||'break',NULL,'A');

INSERT INTO "notify_watch" VALUES
(1,'',5,'Zürich','Zürich',NULL),
(2,'ä',2,'line'||char(10)||'break','50%','2024-02-20'),
(3,NULL,5,'2024-02-20','Zürich',NULL),
(4,'ä',NULL,'','null',''),
(5,'a',5,'a',NULL,'日本'),
(6,'',3,'line'||char(10)||'break','Zürich','Zürich'),
(7,'null',5,NULL,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','a,b'),
(8,'true',44100,'its','null','A'),
(9,'true',NULL,'日本','null','a,b'),
(10,'ä',2,'a,b','1e3','日本'),
(11,'1e3',2,NULL,'a','true'),
(12,'its',NULL,'2024-02-20','null','日本');
